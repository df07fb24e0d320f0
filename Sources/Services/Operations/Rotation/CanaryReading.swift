import AdapterKit
import Kafka
import Keyring
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// Reads a canary's outcomes: tokens, dead letters and retry tiers from the ends that were noted before its first
/// event.
struct CanaryReading: CanaryOutcomes {
    private let configuration: Configuration
    private let marks: TopicMarks
    private let fresh: CanaryTally
    private let brokers: String
    private let maxWait: Duration
    private let logger: Logger
    private let consumer: KafkaConsumer
    private let decoder: EventDecoder
    private let forecaster: EventForecaster
    private let now: @Sendable () -> UnixTime
    /// The ends of the topics of outcomes and of reports when the canary was answered; nil before.
    private var answered: TopicMarks?
    private(set) var tally: CanaryTally
    private(set) var lost: [String] = []

    /// - Parameter maxWait: the longest time for which a verdict waits for an open transaction.
    init(
        _ tally: CanaryTally, from marks: TopicMarks, _ configuration: Configuration, brokers: String,
        maxWait: Duration, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) throws {
        self.tally = tally
        self.maxWait = maxWait
        self.now = now
        fresh = tally
        self.marks = marks
        self.configuration = configuration
        self.brokers = brokers
        self.logger = logger
        decoder = configuration.deadLetterDecoder
        forecaster = EventForecaster(
            apps: configuration.pipelineApps, maximumBytes: configuration.worker.maximumEventBytes,
            liveTopic: configuration.topics.invalidations, bulkTopic: configuration.topics.invalidationsBulk)
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        consumer = try KafkaConsumer(
            properties.reader(group: "\(configuration.kafka.group)-reader"), reading: marks.offsets, logger: logger)
    }

    /// Returns the topics whose ends are noted before a canary's first event.
    static func topics(_ configuration: Configuration) -> [String] {
        [configuration.topics.tokens, configuration.topics.deadLetters] + configuration.retryTopics
    }

    mutating func listen(behind marks: TopicMarks) { answered = marks }

    /// Reads the records that arrived meanwhile, and waits a moment for more.
    mutating func advance() async throws {
        try Task.checkCancellation()
        for event in await consumer.events(limit: 1000, within: .milliseconds(500)) {
            switch event {
            case .record(let record): take(record, into: &tally)
            case .error(let error): if error.isFatal || error.batch != nil { throw error }
            case .endOfPartition, .rebalance: break
            }
        }
    }

    /// Reads everything once more, from the noted ends to the present ends, as a verdict needs it.
    ///
    /// - Throws: `HiddenOffsets` where an open transaction hides a part.
    mutating func readToEnd() async throws {
        var whole = fresh
        for (topic, starts) in marks.ends {
            let reader = try await TopicReader(
                topic, from: starts, configuration, brokers: brokers, maxWait: maxWait, logger: logger)
            try await reader.readAll { record, _, _ in take(record, into: &whole) }
        }
        lost = try await readReports(into: &whole)
        tally = whole
    }

    /// Reads the reports behind the marks at which the canary was answered.
    ///
    /// Reports behind an open transaction count as unread by workers. A report that arrives in the meantime may be read as well.
    ///
    /// - Returns: the topics of which a part was deleted: by their retention, or because the topic was.
    private func readReports(into tally: inout CanaryTally) async throws -> [String] {
        let outcomes = Set(Self.topics(configuration))
        var lost: [String] = []
        for (topic, starts) in (answered?.ends ?? [:]).sorted(by: { $0.key < $1.key }) where !outcomes.contains(topic) {
            let reader = try await TopicReader(
                topic, from: starts, configuration, brokers: brokers, maxWait: maxWait, logger: logger)
            let isCut = reader.bounds.contains { partition, bounds in
                let place = Int(partition.partition)
                return starts.indices.contains(place) && bounds.lowerBound != starts[place]
            }
            if isCut { lost.append(topic) }
            let (forecaster, now) = (forecaster, now())
            _ = try await reader.readVisible(Array(reader.bounds.keys), within: .seconds(2)) { record in
                let input = InputRecord(
                    origin: record.position, timestamp: record.timestamp.map(UnixTime.init(milliseconds:)),
                    body: record.body)
                return forecaster.report(in: input, at: now)
            } _: { _, report, _, _ in
                if let report { tally.report(report) }
            }
        }
        return lost
    }

    /// Returns whether `position` lies behind the marks at which the canary was answered.
    private func isLate(_ position: RecordPosition) -> Bool {
        guard let ends = answered?.ends[position.topic] else { return false }
        let place = Int(position.partition)
        return !ends.indices.contains(place) || position.offset >= ends[place]
    }

    func close() async { await consumer.close(within: .seconds(1)) }

    private func take(_ record: ConsumedRecord, into tally: inout CanaryTally) {
        let topic = record.position.topic
        if topic == configuration.topics.tokens {
            tally.token(record.body, at: now(), isLate: isLate(record.position))
            return
        }
        let input = InputRecord(deadLetter: record)
        let letter = DeadLetterEntry(input, decoder: decoder, at: now())
        if let request = WaitingRequest(input, letter, decoder, configuration, at: now()) {
            tally.request(
                of: request.key, eventID: letter.eventID, at: request.time, isLate: isLate(record.position))
        }
        if topic == configuration.topics.deadLetters {
            tally.letter(
                key: record.key, eventID: letter.eventID, code: letter.code, refused: RefusedToken(record.body))
        } else {
            // The last word of the last entry, as `2026-11-21T10:00:00Z mint key_unavailable`.
            let reason = letter.history.split(separator: " ").last.map(String.init) ?? "unknown"
            tally.retry(eventID: letter.eventID, reason: reason)
        }
    }
}

/// A device's request for a token that no worker could answer yet: in a retry tier, or a dead letter for a reason that is
/// not its own.
struct WaitingRequest {
    /// The reasons for a dead letter that have nothing to do with its event.
    private static let faults: Set<ErrorCode> = [
        .lookupFailed, .keyUnavailable, .mintFailed, .retriesExhausted, .appSuspended,
    ]

    /// The subject key of the user that the event names.
    let key: [UInt8]
    let time: UnixTime

    /// The request in `record`, whose headers are those of `letter`; nil for an event of a job, for one that failed by
    /// its own fault, and for one that names no user.
    init?(
        _ record: InputRecord, _ letter: DeadLetterEntry, _ decoder: EventDecoder, _ configuration: Configuration,
        at now: UnixTime
    ) {
        if let code = letter.code, !Self.faults.contains(code) { return nil }
        guard !record.body.has("remint-campaign"), let event = try? decoder.decode(record),
            let app = configuration.apps.first(where: { $0.name == event.envelope.app }),
            case .report(let root) = event.body
        else { return nil }
        let vouched = event.vouched.flatMap { try? app.adapter.user(vouchedBy: $0) }
        let reading = app.adapter.reading(
            of: Report(root, observedAt: min(event.envelope.observedAt ?? now, now), vouched: vouched))
        guard case .failure(let failure) = reading, let subject = failure.subject else { return nil }
        key = subject.key(app: app.name)
        // The last entry's first word, as in `2026-11-21T10:00:00Z mint key_unavailable`.
        let attempt = letter.history.split(separator: " ").suffix(3).first.flatMap { RFC3339.parse(String($0)) }
        time = letter.failedAt ?? attempt ?? now
    }
}
