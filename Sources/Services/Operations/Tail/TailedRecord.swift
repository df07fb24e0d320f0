package import AdapterKit
import Formats
package import Pipeline

/// A record of a topic for a person: its app, its user and its facts, without secrets.
package struct TailedRecord: Sendable {
    /// The kind of topic that the record is on.
    package enum Kind: String, Sendable {
        case token
        case deadLetter = "dead_letter"
        case event
    }

    /// The kind of topic.
    package let kind: Kind
    /// The record's position.
    package let position: RecordPosition
    /// The record's time; nil if neither its producer nor a broker set one.
    package let time: UnixTime?
    /// The app; nil if the record names none or cannot be read.
    package var app: String?
    /// The user; nil if the record names none or cannot be read.
    package var subject: Subject?
    /// The facts about the record, in their order.
    package private(set) var facts: [(name: String, value: String)] = []
    /// The value as JSON without secrets; nil for a token, and for a value that is no JSON.
    package var value: [UInt8]?

    /// The record of this kind at `position`, without a fact.
    init(kind: Kind, position: RecordPosition, time: UnixTime?) {
        self.kind = kind
        self.position = position
        self.time = time
    }

    /// Adds a fact.
    mutating func add(_ name: String, _ value: String) {
        facts.append((name: name, value: RedactedLetter.withoutTokens(value)))
    }

    /// The user's id, or ids by name; without a token that a record has in its place.
    package var user: String? { ids.map(RedactedLetter.withoutTokens) }

    /// As `user`: a producer may have written anything as the app.
    private var shownApp: String? { app.map(RedactedLetter.withoutTokens) }

    private var ids: String? {
        guard let subject else { return nil }
        switch subject.identity {
        case .user(let id): return id
        case .identifiers(let ids): return ids.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        }
    }

    /// The record in a line. The line may hold characters that a terminal acts on.
    package var line: String {
        let names = [time?.description ?? "-", Self.words[kind] ?? "", shownApp ?? "-", user ?? "-"]
        let facts = facts.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
        let content = value.map { [String(decoding: $0, as: UTF8.self)] } ?? []
        return (names + [facts] + content + [place]).filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private static let words: [Kind: String] = [.token: "token", .deadLetter: "dead letter", .event: "event"]

    private var place: String { "\(position.topic)/\(position.partition)/\(position.offset)" }

    /// The record as an object of JSON.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("kind", kind.rawValue)
        if let time { json.member("time", time.description) }
        if let app = shownApp { json.member("app", app) }
        if let user { json.member("user", user) }
        for fact in facts { json.member(fact.name.replacing(" ", with: "_"), fact.value) }
        json.member("topic", position.topic)
        json.member("partition", Int64(position.partition))
        json.member("offset", position.offset)
        if let value {
            json.name("value")
            json.raw(value)
        }
        json.endObject()
        return json.bytes
    }
}
