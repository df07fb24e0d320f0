package import AdapterKit
import Formats
import JOSE
package import Kafka
import Pipeline
package import WorkerConfiguration

/// Reads the records of a tail for a person: tokens, dead letters and events.
package struct TailReader: Sendable {
    /// The number of bytes of a token's digest that are shown: enough to compare two tokens.
    private static let digestBytes = 8

    private let topics: Configuration.Topics
    private let adapters: [String: any Adapter]
    private let decoder: EventDecoder

    /// A reader for the topics and apps of `configuration`.
    package init(_ configuration: Configuration) {
        topics = configuration.topics
        adapters = Dictionary(configuration.apps.map { ($0.name, $0.adapter) }) { first, _ in first }
        decoder = configuration.deadLetterDecoder
    }

    /// Returns `record` at the time `now`, without secrets: of a token its header's facts, the names of its claims and a
    /// short digest.
    package func read(_ record: ConsumedRecord, at now: UnixTime) -> TailedRecord {
        let time = record.timestamp.map(UnixTime.init(milliseconds:))
        switch record.position.topic {
        case topics.tokens: return token(record, time, at: now)
        case topics.deadLetters: return deadLetter(record, time, at: now)
        default: return event(record, time, at: now)
        }
    }

    private func token(_ record: ConsumedRecord, _ time: UnixTime?, at now: UnixTime) -> TailedRecord {
        var shown = TailedRecord(kind: .token, position: record.position, time: time)
        let token: PublishedToken
        do throws(RecordFault) { token = try PublishedToken(record.body, at: now) } catch {
            shown.add("fault", record.value == nil ? "erased" : error.rawValue)
            return shown
        }
        shown.app = token.app
        shown.subject = token.subject
        shown.add("event", token.eventID)
        shown.add("version", String(token.version))
        shown.add("algorithm", token.algorithm)
        shown.add("key id", token.keyID)
        shown.add("expires", UnixTime(seconds: token.expiresAt).description)
        if let recipient = token.sealedFor {
            shown.add("sealed for", recipient)
        } else if let claims = TokenInspection(Array(token.token.utf8)).claims {
            shown.add("claims", claims.members.map { $0.name }.joined(separator: " "))
        }
        shown.add("digest", Self.digest(of: token.token))
        return shown
    }

    private func deadLetter(_ record: ConsumedRecord, _ time: UnixTime?, at now: UnixTime) -> TailedRecord {
        let input = InputRecord(deadLetter: record)
        let entry = DeadLetterEntry(input, decoder: decoder, at: now)
        var shown = TailedRecord(kind: .deadLetter, position: record.position, time: entry.failedAt ?? time)
        shown.app = entry.app
        shown.subject = subject(of: input, at: now)
        if let id = entry.eventID { shown.add("event", id) }
        guard let code = entry.code, let stage = entry.stage else {
            shown.add("fault", entry.fault?.rawValue ?? RecordFault.foreign.rawValue)
            return shown
        }
        shown.add("letter", entry.place.text)
        shown.add("code", code.rawValue)
        shown.add("stage", stage.rawValue)
        shown.add("attempts", String(entry.attempts))
        shown.add("detail", entry.detail)
        return shown
    }

    private func event(_ record: ConsumedRecord, _ time: UnixTime?, at now: UnixTime) -> TailedRecord {
        var shown = TailedRecord(kind: .event, position: record.position, time: time)
        let input = InputRecord(origin: record.position, timestamp: time, body: record.body)
        shown.value = RedactedLetter(input).value
        do throws(Rejection) {
            let event = try decoder.decode(input)
            shown.app = event.envelope.app
            shown.subject = subject(of: event, at: now)
            shown.add("event", event.envelope.id)
        } catch { shown.add("fault", "\(error.code.rawValue): \(error.detail)") }
        return shown
    }

    // MARK: Users

    private func subject(of record: InputRecord, at now: UnixTime) -> Subject? {
        (try? decoder.decode(record)).flatMap { subject(of: $0, at: now) }
    }

    /// Returns the user of `event`: the one that the edge vouches for, otherwise the one that the request or the report names.
    private func subject(of event: Event, at now: UnixTime) -> Subject? {
        guard let adapter = adapters[event.envelope.app] else { return nil }
        let vouched = event.vouched.flatMap { try? adapter.user(vouchedBy: $0) }
        if let vouched { return vouched.subject }
        let reading =
            switch event.body {
            case .reissue(let request): Reissue.read(request, for: adapter)
            case .report(let root): adapter.reading(of: Report(root, observedAt: now))
            }
        guard case .failure(let failure) = reading else { return nil }
        return failure.subject
    }

    private static func digest(of token: String) -> String {
        SHA256.hash(Array(token.utf8)).prefix(digestBytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A record of a topic for a person: its app, its user and its facts, without secrets.
package struct TailedRecord: Sendable {
    package enum Kind: String, Sendable {
        case token
        case deadLetter = "dead_letter"
        case event
    }

    package let kind: Kind
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
