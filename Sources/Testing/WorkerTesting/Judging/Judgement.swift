import AdapterKit
import DeclaredTesting
import Records
import YAMLReading

/// The end of an event.
struct Ending: Sendable {
    let outcome: String
    /// A dead letter's code, or the reason of a deferral or of a supersession; empty for none.
    let code: String
    let reason: String?
    /// The outcome's detail, in a line without secrets.
    let detail: String?
    /// The topic of the published record; nil where nothing is published.
    let topic: String?
    let key: String?
    let headers: [RecordHeader]
    /// The token; nil where there is none.
    var token: Token?

    /// A token; only its header and claims are ever shown.
    struct Token: Sendable {
        let inspection: TokenInspection
        let subject: Subject
        /// The time from its issue to its end, in seconds.
        let lives: Int64
        let sealedFor: String?
        let verdict: VendorVerdict
    }

    /// The outcome with its code and detail.
    var summary: String {
        var text = outcome
        if !code.isEmpty { text += ", \(code)" }
        if let detail, !detail.isEmpty { text += ": \(detail)" }
        return text
    }
}

extension Expectation {
    /// Returns the differences of `ending` from the expectation: expected and seen of each member, at the expectation's
    /// place.
    func failures(of ending: Ending) -> [Diagnostic] {
        // Nothing else can be right then.
        guard ending.outcome == outcome.value else {
            return [failure(outcome.place, "outcome: expected \(outcome.value), seen \(ending.summary)")]
        }
        var failures = [
            compare("code", code, ending.code, because: ending.detail), compare("reason", reason, ending.reason),
            compare("topic", topic, ending.topic), compare("key", key, ending.key),
        ].compactMap { $0 }
        if let because, ending.detail?.contains(because.value) != true {
            failures.append(mismatch("because", because, ending.detail.map(Self.quoted)))
        }
        failures += headers.compactMap { name, value in compare("headers.\(name)", value, ending.headers.text(name)) }
        guard outcome.value == "minted" else { return failures }
        guard let seen = ending.token else {
            return failures + [failure(place, "the token's record is not one that can be read back")]
        }
        return failures + token.failures(of: seen, in: self)
    }

    fileprivate func failure(_ place: FileLocation, _ text: String) -> Diagnostic {
        Diagnostic(.error, at: place, text)
    }

    fileprivate func compare(
        _ name: String, _ expected: Placed<String>?, _ seen: String?, because: String? = nil
    ) -> Diagnostic? {
        guard let expected, !expected.value.hasSameBytes(as: seen) else { return nil }
        let seen = seen.flatMap { $0.isEmpty ? nil : Self.quoted($0) }
        return mismatch(name, expected, seen.map { $0 + (because.map { ": \($0)" } ?? "") })
    }

    private func mismatch(_ name: String, _ expected: Placed<String>, _ seen: String?) -> Diagnostic {
        failure(expected.place, "\(name): expected \(Self.quoted(expected.value)), seen \(seen ?? "none")")
    }

    /// Returns a string as JSON, without characters that act on a terminal.
    private static func quoted(_ text: String) -> String {
        var json = JSONWriter(capacity: text.utf8.count + 2)
        json.string(text)
        return JSONExcerpt.text(of: json.bytes)
    }
}

extension Expectation.Token {
    fileprivate func failures(of seen: Ending.Token, in expectation: Expectation) -> [Diagnostic] {
        var failures = [
            expectation.compare("user", user, seen.subject.user),
            expectation.compare("challenge", challenge, seen.subject.challenge),
            expectation.compare("sealed_for", sealedFor, seen.sealedFor),
        ].compactMap { $0 }
        if let lives, lives.value != seen.lives {
            let (expected, found) = (
                DurationText.format(seconds: lives.value), DurationText.format(seconds: seen.lives)
            )
            failures.append(expectation.failure(lives.place, "lives: expected \(expected), seen \(found)"))
        }
        if let ids { failures += ids.differences("ids", of: Self.json(of: seen.subject), .exact) }
        failures += header.failures("header", of: seen.inspection.header, in: expectation)
        failures += payload.failures("payload", of: seen.inspection.claims, in: expectation)
        if case .refused(let code, let name) = seen.verdict {
            failures.append(expectation.failure(expectation.place, "the vendor refuses the token: \(code) \(name)"))
        }
        return failures
    }

    /// Returns a user's ids by name; an empty object for a user with a single id.
    private static func json(of subject: Subject) -> JSONValue? {
        var json = JSONWriter()
        json.beginObject()
        if case .identifiers(let ids) = subject.identity { for id in ids { json.member(id.name, id.value) } }
        json.endObject()
        return try? JSONDocument(parsing: json.bytes).root
    }
}

extension Expectation.Part {
    fileprivate func failures(_ name: String, of seen: JSONValue?, in expectation: Expectation) -> [Diagnostic] {
        var failures: [Diagnostic] = []
        if let exact { failures += exact.differences(name, of: seen, .exact) }
        if let has { failures += has.differences(name, of: seen, .subset) }
        for absent in lacks {
            guard let found = seen?[absent.value] else { continue }
            let text = JSONExcerpt.text(of: found.json)
            failures.append(expectation.failure(absent.place, "\(name).\(absent.value): expected none, seen \(text)"))
        }
        return failures
    }
}

extension PlacedJSON {
    fileprivate func differences(_ name: String, of seen: JSONValue?, _ extent: JSONExtent) -> [Diagnostic] {
        guard let expected = try? JSONDocument(parsing: json).root, let seen else {
            return [Diagnostic(.error, at: places.place, "\(name): expected \(JSONExcerpt.text(of: json)), seen none")]
        }
        return seen.differences(from: expected, extent).map { difference in
            let path = difference.path.reduce(into: name) { text, step in
                switch step {
                case .member(let member): text += ".\(member)"
                case .element(let index): text += "[\(index)]"
                }
            }
            let (wanted, found) = (
                difference.expected.map(JSONExcerpt.text) ?? "none", difference.seen.map(JSONExcerpt.text) ?? "none"
            )
            return Diagnostic(
                .error, at: places.place(of: difference.path), "\(path): expected \(wanted), seen \(found)")
        }
    }
}

/// JSON in a message.
enum JSONExcerpt {
    /// The largest number of bytes that are shown.
    private static let most = 400

    /// Returns the text of `json`, cut where it is long.
    static func text(of json: [UInt8]) -> String {
        json.count <= most
            ? String(decoding: json, as: UTF8.self) : String(decoding: json[..<most], as: UTF8.self) + "…"
    }
}
