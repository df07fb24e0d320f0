import AdapterKit
import YAMLReading
import Yams

/// Reads `tests`. They are the same words as those of recorded reports under a compiled adapter's `Fixtures`.
struct TestsReader {
    private static let most = 512

    /// The members that the edge must vouch for.
    let required: [String]

    func read(_ section: Section) -> FileTests {
        defer { section.finish() }
        let now = section.read(FileKeys.Tests.now) ?? FileTests.standardTime
        let (key, keyID) = key(section, FileKeys.Tests.key)
        let apps = apps(section)
        let reports = reports(section), tokens = tokens(section, now, apps)
        return FileTests(
            now: now, key: key, keyID: keyID,
            apps: apps.map { app in
                FileTests.App(
                    name: app.name, settings: app.settings, reissue: app.reissue, place: app.place,
                    vouched: vouched(of: app.name, tokens))
            },
            reports: reports, tokens: tokens, verdicts: verdicts(section), refusals: refusals(section),
            reportsPlace: section.diagnostics.place(of: section.key(of: FileKeys.Tests.reports) ?? section.node),
            verdictsPlace: section.diagnostics.place(of: section.key(of: FileKeys.Tests.verdicts) ?? section.node),
            place: section.diagnostics.place(of: section.node))
    }

    /// Warns of the parts without which `remint adapter test` fails.
    static func warnOfMissingTests(_ root: Section) {
        guard let node = root.value(of: FileKeys.tests) else {
            root.diagnostics.warning(
                root.node, "the file has no tests; write tests: with apps, reports, tokens and verdicts")
            return
        }
        let members = Self.members(of: node)
        let parts: [any DeclaredMember] = [FileKeys.Tests.reports, FileKeys.Tests.tokens, FileKeys.Tests.verdicts]
        for part in parts where members[part.name] == nil {
            root.diagnostics.warning(
                root.key(of: FileKeys.tests), "tests.\(part.name) is missing; remint adapter test fails without it")
        }
        if let verdicts = members[FileKeys.Tests.verdicts.name], Self.members(of: verdicts)[otherVerdicts] == nil {
            root.diagnostics.warning(
                verdicts, "tests.verdicts lacks \"*\", the vendor's answer to every other corrupted token")
        }
    }

    private static func members(of node: Node) -> [String: Node] {
        Dictionary(node.mapping?.map { ($0.key.string ?? "", $0.value) } ?? []) { first, _ in first }
    }

    /// The name of the verdict on every corrupted token without one of its own.
    private static let otherVerdicts = "*"

    /// Returns the members that the first token test of `app` with all required ones vouches for.
    private func vouched(of app: String, _ tokens: [FileTests.Token]) -> [UInt8]? {
        guard !required.isEmpty else { return nil }
        return tokens.lazy.filter { $0.app == app }.compactMap(\.vouched).first { json in
            guard let members = try? JSONDocument(parsing: json).root else { return false }
            return required.allSatisfy { members[$0] != nil }
        }
    }

    private func key(_ section: Section, _ declared: FileKey<Node>) -> (FileTests.Key?, String?) {
        guard section.read(declared) != nil else { return (nil, nil) }
        let key = section.section(declared)
        defer { key.finish() }
        let id = key.read(FileKeys.TestKey.id)
        if let secret = key.read(FileKeys.TestKey.secret) {
            let encoding = key.read(FileKeys.TestKey.encoding) ?? .utf8
            return (.secret(secret, encoding), id)
        }
        if let pem = key.read(FileKeys.TestKey.pem) { return (.pem(pem), id) }
        if id == nil { key.diagnostics.error(key.node, "\(key.name) needs \"secret\" with \"encoding\", or \"pem\"") }
        return (nil, id)
    }

    private func apps(_ section: Section) -> [FileTests.App] {
        section.section(FileKeys.Tests.apps).each(FileKeys.TestApp.all, atMost: Self.most) { app, name in
            guard let settings = json(app, FileKeys.TestApp.settings) else { return nil }
            return FileTests.App(
                name: name, settings: settings, reissue: app.read(FileKeys.TestApp.reissue),
                place: section.diagnostics.place(of: app.place), vouched: nil)
        }
    }

    /// Returns the value of `key`, and an empty object where it is absent.
    private func json(_ section: Section, _ key: FileKey<[UInt8]>) -> [UInt8]? {
        section.value(of: key) == nil ? Array("{}".utf8) : section.read(key)
    }

    private func list(_ section: Section, _ key: FileKey<Node>) -> [Node] {
        guard let node = section.read(key) else { return [] }
        guard let nodes = node.sequence, nodes.count <= Self.most else {
            section.error(key, at: node, "must be a list, of at most \(Self.most)")
            return []
        }
        return Array(nodes)
    }

    // MARK: Reports

    private func reports(_ section: Section) -> [FileTests.Report] {
        var index = 0
        return section.each(list(section, FileKeys.Tests.reports), of: FileKeys.Tests.reports, FileKeys.TestReport.all)
        {
            report, node in
            index += 1
            let sdk = report.read(FileKeys.TestReport.sdk) ?? "", app = report.read(FileKeys.TestReport.app) ?? ""
            let reported = report.read(FileKeys.TestReport.reported) ?? ""
            let name = report.read(FileKeys.TestReport.name) ?? "\(sdk) \(reported) (\(index))"
            var json = JSONWriter()
            json.beginObject()
            json.member("sdk", sdk)
            json.member("reported", reported)
            json.member("app", app)
            json.member("origin", report.read(FileKeys.TestReport.origin) ?? "")
            if let text = report.read(FileKeys.TestReport.reportText) {
                json.member("report_text", text)
            } else if let value = self.json(report, FileKeys.TestReport.report) {
                json.name("report")
                json.raw(value)
            }
            json.name("expect")
            guard expectation(report.section(FileKeys.TestReport.expect), to: &json) else { return nil }
            json.endObject()
            return FileTests.Report(name: name, json: json.bytes, place: section.diagnostics.place(of: node))
        }
    }

    private func expectation(_ expect: Section, to json: inout JSONWriter) -> Bool {
        defer { expect.finish() }
        json.beginObject()
        defer { json.endObject() }
        if let (code, node) = expect.placed(FileKeys.Expectation.rejected) {
            guard errorCode(code, node, expect) != nil else { return false }
            json.member("rejected", code)
            return true
        }
        guard let remedy = expect.read(FileKeys.Expectation.remedy),
            let reason = expect.read(FileKeys.Expectation.reason)
        else {
            return false
        }
        json.member("remedy", remedy)
        json.member("reason", reason)
        if let user = expect.read(FileKeys.Expectation.user) {
            let subject = Subject(user: user, challenge: expect.read(FileKeys.Expectation.challenge))
            json.member("subject", String(decoding: subject.key(app: "app"), as: UTF8.self))
        }
        if expect.read(FileKeys.Expectation.failedToken) == true {
            json.name("failed_token")
            json.bool(true)
        }
        return true
    }

    private func errorCode(_ code: String, _ node: Node, _ section: Section) -> ErrorCode? {
        if let known = ErrorCode(rawValue: code) { return known }
        let known = ErrorCode.allCases.map(\.rawValue)
        let meant = Spelling.nearest(to: code, among: known).map { "; did you mean \($0)?" } ?? ""
        section.diagnostics.error(node, "no code is called \(code)\(meant)")
        return nil
    }

    // MARK: Tokens

    private func tokens(_ section: Section, _ now: UnixTime, _ apps: [FileTests.App]) -> [FileTests.Token] {
        section.each(list(section, FileKeys.Tests.tokens), of: FileKeys.Tests.tokens, FileKeys.TestToken.all) {
            token, node in
            let app = token.placed(FileKeys.TestToken.app)
            let user = token.read(FileKeys.TestToken.user)
            let issuedAt = token.read(FileKeys.TestToken.at) ?? now
            let life = token.read(FileKeys.TestToken.lives)
            let uuid = token.read(FileKeys.TestToken.uuid), challenge = token.read(FileKeys.TestToken.challenge)
            let vouched = token.read(FileKeys.TestToken.vouched)
            let header = token.read(FileKeys.TestToken.header)
            let payload = token.read(FileKeys.TestToken.payload)
            let bytes = token.read(FileKeys.TestToken.token)
            let (key, keyID) = key(token, FileKeys.TestToken.key)
            let rejection = token.placed(FileKeys.TestToken.rejected).flatMap { errorCode($0.value, $0.node, token) }
            guard let app, let user else { return nil }
            if !apps.contains(where: { $0.name == app.value }) {
                section.diagnostics.error(app.node, "tests.apps has no app called \(app.value)")
                return nil
            }
            if header == nil, payload == nil, bytes == nil, token.value(of: FileKeys.TestToken.rejected) == nil {
                section.diagnostics.error(
                    node, "a token's test needs its expected result: header, payload, token or rejected")
            }
            if let uuid, UUIDText.words(of: uuid) == nil {
                section.diagnostics.error(token.value(of: FileKeys.TestToken.uuid), "tests.tokens.uuid is no UUID")
            }
            return FileTests.Token(
                app: app.value, user: user, challenge: challenge, vouched: vouched, issuedAt: issuedAt,
                life: life ?? -1, uuid: uuid, header: header, payload: payload, token: bytes, key: key, keyID: keyID,
                rejection: rejection, place: section.diagnostics.place(of: node))
        }
    }

    private func verdicts(_ section: Section) -> [(name: String, verdict: String, place: FileLocation)] {
        section.section(FileKeys.Tests.verdicts).all.prefix(Self.most).compactMap { key, name, value in
            guard let text = value.scalar?.string else {
                section.diagnostics.error(
                    value, "tests.verdicts.\(name) must be a string, such as 401 Unauthorized or accepted")
                return nil
            }
            return (name, text, section.diagnostics.place(of: key))
        }
    }

    private func refusals(_ section: Section) -> [FileTests.Refusal] {
        section.each(list(section, FileKeys.Tests.refused), of: FileKeys.Tests.refused, FileKeys.Refusal.all) {
            refusal, node in
            guard let settings = json(refusal, FileKeys.Refusal.settings) else { return nil }
            return FileTests.Refusal(
                settings: settings, because: refusal.read(FileKeys.Refusal.because) ?? "",
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
