import AdapterKit
import Keyring
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// A campaign's topics on a cluster.
struct KafkaCampaignTopics: CampaignTopics {
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger
    private let ledger: LedgerReader
    /// The client for all questions about the lag, which are many while workers make progress on the lane.
    private let waiting: BulkLag
    private let maxWait: Duration

    /// - Parameters:
    ///   - maxWait: the longest time for which a verdict waits for an open transaction.
    ///   - remembers: whether a reading of the ledger goes on behind the last one. A revocation reads everything each
    ///     time: its verdict must not rest on records of a topic that was deleted meanwhile.
    init(
        _ configuration: Configuration, brokers: String, maxWait: Duration, remembers: Bool, logger: Logger,
        display: any ProgressDisplay
    ) {
        self.configuration = configuration
        self.brokers = brokers
        self.logger = logger
        self.maxWait = maxWait
        waiting = BulkLag(
            configuration, KafkaProperties(configuration, bootstrapServers: brokers), logger: logger)
        // A campaign reads the ledger repeatedly until its own time limit.
        ledger = LedgerReader(
            configuration, brokers: brokers, maxWait: min(maxWait, TopicReader.standardMaxWait),
            remembers: remembers,
            logger: logger, display: display)
    }

    func holders(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (holders: [LedgerHolder], hidden: HiddenOffsets?) {
        try await ledger.holders(matching: filter, at: now)
    }

    func holdings(of versions: [String], in ring: RingInUse, at now: UnixTime) async throws -> CampaignHoldings {
        try await ledger.holdings(of: versions, in: ring, at: now)
    }

    func ends() async throws -> TopicMarks {
        try await TopicMarks.read(
            CanaryReading.topics(configuration), configuration, brokers: brokers, logger: logger)
    }

    func lane() throws -> any BulkLane { try KafkaBulkLane(configuration, brokers: brokers, logger: logger) }

    func outcomes(
        _ tally: CanaryTally, from marks: TopicMarks, now: @escaping @Sendable () -> UnixTime
    ) throws -> any CanaryOutcomes {
        try CanaryReading(
            tally, from: marks, configuration, brokers: brokers, maxWait: maxWait, logger: logger, now: now)
    }

    func fates(of rotation: Rotation, at now: UnixTime) async throws -> EventFates {
        var tally = EventFates(prefix: "\(rotation.id).")
        let decoder = configuration.deadLetterDecoder
        for topic in configuration.retryTopics + [configuration.topics.deadLetters] {
            let starts = rotation.start?.ends[topic]
            let reader = try await TopicReader(topic, from: starts, configuration, brokers: brokers, logger: logger)
            let partitions = Array(reader.bounds.keys)
            let hidden = try await reader.readVisible(partitions, within: .seconds(2)) { record, _, _ in
                let letter = DeadLetterEntry(InputRecord(deadLetter: record), decoder: decoder, at: now)
                if topic == configuration.topics.deadLetters {
                    tally.add(letter.eventID, deadLetteredWith: letter.code)
                } else {
                    let reason = letter.history.split(separator: " ").last.map(String.init) ?? "unknown"
                    tally.add(letter.eventID, "deferred (\(reason))")
                }
            }
            if let hidden { tally.add(hidden) }
        }
        return tally
    }

    func holds(at now: UnixTime, since marks: TopicMarks?) async throws -> ControlHolds {
        try await ControlStates(configuration, brokers: brokers, logger: logger)
            .read(at: now, since: marks, within: maxWait)
    }

    func controlEnds() async throws -> TopicMarks {
        try await TopicMarks.read([configuration.topics.control], configuration, brokers: brokers, logger: logger)
    }

    func events() async throws -> EventsBefore {
        try await EventsBefore(configuration, brokers: brokers, logger: logger)
    }

    func liveEvents() async throws -> EventsBefore {
        try await EventsBefore(on: [.live], configuration, brokers: brokers, logger: logger)
    }

    func unanswered(_ events: EventsBefore) async throws -> Int {
        try await events.unanswered(configuration, brokers: brokers, logger: logger)
    }

    /// The lag of the bulk lane, asked of the brokers now.
    var lag: Int? { get async { await waiting.current } }

    func close() async { await waiting.close() }
}
