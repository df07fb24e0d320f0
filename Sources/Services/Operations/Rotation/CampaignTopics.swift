package import AdapterKit
package import Keyring
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// The topics as a campaign uses them: the ledger, the bulk lane, and the outcomes of its events.
package protocol CampaignTopics: EventTopics {
    /// Returns the subjects whose newest token `filter` matches, the earliest end first, and the offsets that open
    /// transactions hide of the ledger.
    func holders(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (holders: [LedgerHolder], hidden: HiddenOffsets?)
    /// Returns the live tokens of `versions` of `ring`, from one reading.
    func holdings(of versions: [String], in ring: RingInUse, at now: UnixTime) async throws -> CampaignHoldings
    /// Returns the ends of the topics that show outcomes.
    func ends() async throws -> TopicMarks
    func lane() throws -> any BulkLane
    /// Reads the outcomes of a canary's events behind `marks` into `tally`.
    func outcomes(
        _ tally: CanaryTally, from marks: TopicMarks, now: @escaping @Sendable () -> UnixTime
    ) throws -> any CanaryOutcomes
    /// Returns the outcomes of the events of `rotation` that became no tokens.
    func fates(of rotation: Rotation, at now: UnixTime) async throws -> EventFates
    /// Returns the suspensions and pauses in force at `now`; with the control topic's ends of that time, also those
    /// that began or finished behind them.
    func holds(at now: UnixTime, since marks: TopicMarks?) async throws -> ControlHolds
    func controlEnds() async throws -> TopicMarks
    /// Returns the events that are on the topics of the live lane now.
    func liveEvents() async throws -> EventsBefore
    /// The number of events of the bulk lane that no worker has consumed; nil where it is unknown.
    var lag: Int? { get async }
    /// Closes the connections. Later questions open new ones.
    func close() async
}

/// A canary's outcomes so far, read as they arrive.
package protocol CanaryOutcomes {
    var tally: CanaryTally { get }
    /// The topics that lost a part of the reports before they were read for a verdict.
    var lost: [String] { get }
    /// Counts what lies behind `marks`, the ends of the topics of outcomes and of reports at which the canary was answered, as
    /// later than its tokens. From now on a verdict needs the reports behind them.
    mutating func listen(behind marks: TopicMarks)
    /// Reads the records that arrived meanwhile, and waits a moment for more.
    mutating func advance() async throws
    /// Reads everything once more, from the noted ends to the present ends, as a verdict needs it.
    mutating func readToEnd() async throws
    func close() async
}

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

/// The last outcome of each of a campaign's events that failed, as a value.
package struct EventFates {
    private let prefix: String
    private var fates: [String: String] = [:]
    private var hidden: [HiddenOffsets] = []

    /// No outcomes yet, of the events whose ids begin with `prefix`.
    package init(prefix: String) { self.prefix = prefix }

    /// Adds the outcome of an event; the last one of each event counts.
    package mutating func add(_ eventID: String?, _ fate: String) {
        if let eventID, eventID.hasPrefix(prefix) { fates[eventID] = fate }
    }

    package mutating func add(_ eventID: String?, deadLetteredWith code: ErrorCode?) {
        add(eventID, Self.letter(code))
    }

    private static func letter(_ code: ErrorCode?) -> String { "dead-lettered (\(code?.rawValue ?? "unknown"))" }

    /// The ids of the events whose last outcome is that the vendor does not know their user any more.
    var ofGoneUsers: [String] { fates.filter { $0.value == Self.letter(.userGone) }.map(\.key) }

    /// Adds the offsets that an open transaction hides of a topic.
    mutating func add(_ hidden: HiddenOffsets) { self.hidden.append(hidden) }

    /// Returns the number of the events `ids` with each outcome, the largest first, and the unknown part.
    func counts(of ids: Set<String>) -> String {
        let known = Dictionary(grouping: fates.filter { ids.contains($0.key) }.values) { $0 }.map {
            ($0.value.count, $0.key)
        }
        .sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map { "\($0.0) \($0.1)" }
        return (known + hidden.map(\.fact)).joined(separator: ", ")
    }
}
