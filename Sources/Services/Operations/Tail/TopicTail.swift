package import AdapterKit
import Formats
import JOSE
package import Kafka
package import Logging
import Pipeline
import Wiring
package import WorkerConfiguration

/// The records of topics from a place on, as they come; nothing is committed.
package struct TopicTail {
    /// The place of the first record.
    package enum Start: Sendable, Equatable {
        case beginning
        /// The first record that comes.
        case end
        /// The first record of this time or later.
        case time(UnixTime)
    }

    private static let closing = Duration.seconds(5)
    /// The longest time for one answer of the brokers.
    private static let answer = Duration.seconds(15)

    private let properties: ClientProperties
    private let starts: [PartitionOffset]
    /// The time of the first record, where the brokers do not find its offset; nil if they do.
    private let earliest: UnixTime?
    private let logger: Logger

    /// The tail of `topics` from `start` on.
    package init(
        of topics: [String], from start: Start, _ configuration: Configuration, brokers: String, logger: Logger
    ) async throws {
        let kafka = KafkaProperties(configuration, bootstrapServers: brokers)
        var partitions: [TopicPartition] = []
        for topic in topics { partitions += try await kafka.partitions(of: topic, logger: logger) }
        properties = kafka.reader(group: "\(configuration.kafka.group)-reader")
        self.logger = logger
        // The embedded broker does not look up offsets by time, and has few records.
        if configuration.kafka.isEmbedded, case .time(let time) = start {
            earliest = time
            starts = try await Self.offsets(of: partitions, .beginning, properties, logger)
        } else {
            earliest = nil
            starts = try await Self.offsets(of: partitions, start, properties, logger)
        }
    }

    private static func offsets(
        of partitions: [TopicPartition], _ start: Start, _ properties: ClientProperties, _ logger: Logger
    ) async throws -> [PartitionOffset] {
        if start == .beginning { return partitions.map { PartitionOffset($0, offset: 0) } }
        let asking = try KafkaConsumer(properties, reading: [], logger: logger)
        return try await asking.whileOpen(closingWithin: Self.closing) { consumer in
            var found: [TopicPartition: Int64] = [:]
            if case .time(let time) = start {
                found = try await consumer.offsets(of: partitions, notBefore: time.milliseconds, within: Self.answer)
            }
            var starts: [PartitionOffset] = []
            for partition in partitions {
                // A partition without a record of that time is read from its end.
                if let offset = found[partition] {
                    starts.append(PartitionOffset(partition, offset: offset))
                } else {
                    let bounds = try await consumer.bounds(of: partition, within: Self.answer)
                    starts.append(PartitionOffset(partition, offset: bounds.upperBound))
                }
            }
            return starts
        }
    }

    /// Calls `each` with each record until it returns false.
    ///
    /// - Throws: `KafkaError` for a failure that does not pass, and the error of `each`.
    package func follow(_ each: (ConsumedRecord) throws -> Bool) async throws {
        let reading = try KafkaConsumer(properties, reading: starts, logger: logger)
        try await reading.whileOpen(closingWithin: Self.closing) { consumer in
            while try take(await consumer.events(limit: 1000, within: .seconds(1)), each) {
                // A canceled task gets no event, and would ask again and again.
                try Task.checkCancellation()
            }
        }
    }

    /// Returns whether `each` wants more records than those of `events`.
    private func take(
        _ events: [KafkaConsumer.Event], _ each: (ConsumedRecord) throws -> Bool
    ) throws -> Bool {
        for event in events {
            switch event {
            case .record(let record):
                if let earliest, let time = record.timestamp, time < earliest.milliseconds { continue }
                guard try each(record) else { return false }
            case .error(let error): if error.endsReading { throw error }
            case .rebalance, .endOfPartition: break
            }
        }
        return true
    }
}

package struct TailFilter: Sendable {
    /// Selects the records of this app.
    package var app: String?
    /// Selects the records about this user: the id, or one of the ids.
    package var user: String?

    /// A filter by `app` and `user`; nil for any.
    package init(app: String? = nil, user: String? = nil) {
        self.app = app
        self.user = user
    }

    /// Returns whether the filter selects `record`.
    package func matches(_ record: TailedRecord) -> Bool {
        if let app, record.app.map({ app.hasSameBytes(as: $0) }) != true { return false }
        guard let user else { return true }
        switch record.subject?.identity {
        case .user(let id): return user.hasSameBytes(as: id)
        case .identifiers(let ids): return ids.contains { user.hasSameBytes(as: $0.value) }
        case nil: return false
        }
    }
}

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
