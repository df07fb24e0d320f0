import AdapterKit
import YAMLReading
import Yams

/// Reads `tests`. They are the same words as those of recorded reports under a compiled adapter's `Fixtures`.
struct TestsReader {
    private static let most = 512

    func read(_ section: Section) -> FileTests {
        defer { section.finish() }
        let now = section.time("now") ?? FileTests.standardTime
        let (key, keyID) = key(section)
        let apps = apps(section)
        return FileTests(
            now: now, key: key, keyID: keyID, apps: apps, reports: reports(section),
            tokens: tokens(section, now, apps), verdicts: verdicts(section), refusals: refusals(section),
            place: section.diagnostics.place(of: section.node))
    }

    private func key(_ section: Section) -> (FileTests.Key?, String?) {
        guard section.value("key") != nil else { return (nil, nil) }
        let key = section.section("key")
        defer { key.finish() }
        let id = key.text("id")?.text
        if let (secret, _) = key.text("secret") {
            let encoding = key.choice("encoding", SecretEncoding.self)?.choice ?? .utf8
            return (.secret(secret, encoding), id)
        }
        if let (pem, _) = key.text("pem") { return (.pem(pem), id) }
        if id == nil { key.diagnostics.error(key.node, "\(key.name) needs \"secret\" with \"encoding\", or \"pem\"") }
        return (nil, id)
    }

    private func apps(_ section: Section) -> [FileTests.App] {
        section.section("apps").all.prefix(Self.most).compactMap { key, name, value in
            let app = Section(value, at: key, name: "tests.apps.\(name)", section.diagnostics)
            defer { app.finish() }
            guard let settings = json(app.value("settings"), app, "settings") else { return nil }
            return FileTests.App(
                name: name, settings: settings, reissue: app.value("reissue").flatMap { json($0, app, "reissue") })
        }
    }

    private func json(_ node: Node?, _ section: Section, _ name: String) -> [UInt8]? {
        node == nil ? Array("{}".utf8) : section.json(name)
    }

    private func list(_ section: Section, _ name: String) -> [Node] {
        guard let node = section.value(name) else { return [] }
        guard let nodes = node.sequence, nodes.count <= Self.most else {
            section.diagnostics.error(node, "\(section.path(name)) must be a list, of at most \(Self.most)")
            return []
        }
        return Array(nodes)
    }

    // MARK: Reports

    private func reports(_ section: Section) -> [FileTests.Report] {
        list(section, "reports").enumerated().compactMap { index, node in
            let report = Section(node, at: node, name: "tests.reports", section.diagnostics)
            defer { report.finish() }
            let sdk = report.requiredText("sdk")?.text ?? "", app = report.requiredText("app")?.text ?? ""
            let reported = report.requiredText("reported")?.text ?? ""
            let name = report.text("name")?.text ?? "\(sdk) \(reported) (\(index + 1))"
            var json = JSONWriter()
            json.beginObject()
            json.member("sdk", sdk)
            json.member("reported", reported)
            json.member("app", app)
            json.member("origin", report.text("origin")?.text ?? "")
            if let text = report.text("report_text")?.text {
                json.member("report_text", text)
            } else if let value = self.json(report.value("report"), report, "report") {
                json.name("report")
                json.raw(value)
            }
            json.name("expect")
            guard expectation(report.section("expect"), to: &json) else { return nil }
            json.endObject()
            return FileTests.Report(name: name, json: json.bytes, place: section.diagnostics.place(of: node))
        }
    }

    private func expectation(_ expect: Section, to json: inout JSONWriter) -> Bool {
        defer { expect.finish() }
        json.beginObject()
        defer { json.endObject() }
        if let (code, node) = expect.text("rejected") {
            guard ErrorCode(rawValue: code) != nil else {
                let known = ErrorCode.allCases.map(\.rawValue)
                let meant = Spelling.nearest(to: code, among: known).map { "; did you mean \($0)?" } ?? ""
                expect.diagnostics.error(node, "no code is called \(code)\(meant)")
                return false
            }
            json.member("rejected", code)
            return true
        }
        guard let remedy = expect.requiredText("remedy")?.text, let reason = expect.requiredText("reason")?.text else {
            return false
        }
        json.member("remedy", remedy)
        json.member("reason", reason)
        if let (user, _) = expect.text("user") {
            let subject = Subject(user: user, challenge: expect.text("challenge")?.text)
            json.member("subject", String(decoding: subject.key(app: "app"), as: UTF8.self))
        }
        if expect.bool("failed_token") == true {
            json.name("failed_token")
            json.bool(true)
        }
        return true
    }

    // MARK: Tokens

    private func tokens(_ section: Section, _ now: UnixTime, _ apps: [FileTests.App]) -> [FileTests.Token] {
        list(section, "tokens").compactMap { node in
            let token = Section(node, at: node, name: "tests.tokens", section.diagnostics)
            defer { token.finish() }
            let app = token.requiredText("app")
            let user = token.requiredText("user")
            let issuedAt = token.time("at") ?? now
            let life = token.duration("lives", in: .zero...(.seconds(31_536_000)))?.components.seconds
            let uuid = token.text("uuid")?.text, challenge = token.text("challenge")?.text
            let vouched = token.value("vouched").flatMap { json($0, token, "vouched") }
            let header = token.value("header").flatMap { json($0, token, "header") }
            let payload = token.value("payload").flatMap { json($0, token, "payload") }
            let bytes = token.text("token")?.text
            let (key, keyID) = key(token)
            guard let app, let user else { return nil }
            if !apps.contains(where: { $0.name == app.text }) {
                section.diagnostics.error(app.node, "tests.apps has no app called \(app.text)")
                return nil
            }
            if header == nil, payload == nil, bytes == nil {
                section.diagnostics.error(node, "a token's test needs its expected result: header, payload or token")
            }
            if let uuid, UUIDText.words(of: uuid) == nil {
                section.diagnostics.error(token.value("uuid"), "tests.tokens.uuid is no UUID")
            }
            return FileTests.Token(
                app: app.text, user: user.text, challenge: challenge, vouched: vouched, issuedAt: issuedAt,
                life: life ?? -1, uuid: uuid, header: header, payload: payload, token: bytes, key: key, keyID: keyID,
                place: section.diagnostics.place(of: node))
        }
    }

    private func verdicts(_ section: Section) -> [(name: String, verdict: String)] {
        section.section("verdicts").all.prefix(Self.most).compactMap { key, name, value in
            guard let text = value.scalar?.string else {
                section.diagnostics.error(
                    value, "tests.verdicts.\(name) must be a string, such as 401 Unauthorized or accepted")
                return nil
            }
            return (name, text)
        }
    }

    private func refusals(_ section: Section) -> [FileTests.Refusal] {
        list(section, "refused").compactMap { node in
            let refusal = Section(node, at: node, name: "tests.refused", section.diagnostics)
            defer { refusal.finish() }
            guard let settings = json(refusal.value("settings"), refusal, "settings") else { return nil }
            return FileTests.Refusal(
                settings: settings, because: refusal.text("because")?.text ?? "",
                place: section.diagnostics.place(of: node))
        }
    }
}

/// A UUID's text.
package enum UUIDText {
    /// Returns the two halves of a UUID; nil for anything but a UUID with hyphens.
    package static func words(of text: String) -> (high: UInt64, low: UInt64)? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, digits.count == 32,
            let high = UInt64(String(decoding: digits.prefix(16), as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits.suffix(16), as: UTF8.self), radix: 16)
        else { return nil }
        return (high, low)
    }
}
