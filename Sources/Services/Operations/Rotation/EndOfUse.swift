import AdapterKit
import Kafka
package import Keyring
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// The topics with the events that workers answer with tokens.
package protocol EventTopics {
    /// Returns the events that are on the topics of the live and the bulk lane now.
    func events() async throws -> EventsBefore
    /// Returns the number of `events` that have no outcome yet.
    func unanswered(_ events: EventsBefore) async throws -> Int
}

/// The wait until no worker can add a token of a version that does not sign any more: every worker has loaded the ring, and every
/// event that one may have taken before has its outcome. What the ledger shows afterwards is final.
package struct EndOfUse {
    /// The time in which every worker loads a changed ring: workers read their rings once a second.
    package static let loading = Duration.seconds(3)

    let ring: RingInUse
    let topics: any EventTopics
    let loading: Duration
    /// The longest time for which the number of events without an outcome may stay the same.
    let maxWait: Duration
    let rest: (Duration) async throws -> Void

    /// The end of versions of `ring`.
    ///
    /// - Parameters:
    ///   - loading: the time in which every worker loads a changed ring.
    ///   - maxWait: the longest time for which the number of events without an outcome may stay the same.
    ///   - rest: waits for a time.
    init(
        of ring: RingInUse, on topics: any EventTopics, loading: Duration = Self.loading,
        maxWait: Duration = TopicReader.standardMaxWait,
        rest: @escaping (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.ring = ring
        self.topics = topics
        self.loading = loading
        self.maxWait = maxWait
        self.rest = rest
    }

    init(of ring: RingInUse, brokers: String, logger: Logger) {
        self.init(of: ring, on: KafkaEventTopics(configuration: ring.configuration, brokers: brokers, logger: logger))
    }

    /// Returns the time to wait until every worker has loaded a ring that changed at `change`; nil for an unknown time.
    static func rest(since change: UnixTime?, at now: UnixTime, _ loading: Duration) -> Duration {
        guard let change else { return loading }
        let age = Duration.microseconds(now.microseconds(since: change))
        // The time of the change may be from another operator's clock: a wrong one must not shorten the rest.
        return age < loading + .seconds(ClockTolerance.standard.seconds) ? loading : .zero
    }

    /// Waits for the end of `versions`.
    ///
    /// - Returns: the events that may still become tokens of one of them; nil for none.
    /// - Throws: `KeyRingError`, or the error that keeps brokers from being asked.
    func wait(for versions: [String], _ display: any ProgressDisplay) async throws -> PendingEvents? {
        let listing = try ring.directory.readListing()
        // A prepared version never signed.
        guard versions.contains(where: { listing.state(of: $0) != .prepared }) else { return nil }
        let time = Self.rest(since: listing.active?.activated, at: ring.now(), loading)
        if time > .zero { try await rest(time) }
        // Workers that make progress know the ring by now; a worker that stands still may hold one of these events.
        let events = try await topics.events()
        guard events.unseen.isEmpty else { return PendingEvents(count: 0, unseen: events.unseen) }
        let count = try await lowest(of: events, display)
        return count > 0 ? PendingEvents(count: count) : nil
    }

    /// Asks for the number of `events` without an outcome until it is 0, or until it stops falling for too long.
    private func lowest(of events: EventsBefore, _ display: any ProgressDisplay) async throws -> Int {
        var display = display
        defer { display.clear() }
        var least = Int.max
        var deadline = ContinuousClock.now
        while true {
            let count = try await topics.unanswered(events)
            guard count > 0 else { return 0 }
            if count < least {
                least = count
                deadline = .now + maxWait
            }
            guard .now < deadline else { return count }
            display.show(0, of: count, count.of("event has no outcome yet", "events have no outcome yet"))
            try await rest(.milliseconds(250))
        }
    }
}

/// Events that a worker may still answer with a version that does not sign any more.
struct PendingEvents: Sendable, Equatable {
    /// The number of events without an outcome.
    let count: Int
    /// The topics that brokers do not show, so that the number of their events is unknown.
    var unseen: [String] = []

    /// The fact, and the way on, about tokens of `version`.
    func clause(_ version: String) -> String {
        guard unseen.isEmpty else {
            let names = unseen.joined(separator: ", ")
            return
                "whether events from before wait is unknown, for brokers do not show \(names): create it (\(RemintCommand("topics create"))) or allow this account DESCRIBE and READ on it"
        }
        let events = count.of(
            "event from before has no outcome yet, or lies", "events from before have no outcome yet, or lie")
        return
            "\(events) behind an open transaction: a worker that took one and stands still may answer it with \(version); see that the workers run (\(RemintCommand("status")))"
    }
}

/// The ledger, read once no worker should be able to add a token of some versions to it.
package struct FinalReading {
    package let holdings: CampaignHoldings
    /// The events that may still become tokens of one of them; nil for none.
    let pending: PendingEvents?

    private var version: String { holdings.first.version }

    /// The end of a sentence about the tokens that are left: the events that may become others; empty for none.
    package var events: String { pending.map { ", but \($0.clause(version))" } ?? "" }

    /// Whether no user can hold, or get, a token of the versions, which are revoked.
    package var isOver: Bool {
        pending == nil && holdings.live == 0 && holdings.unreadable == 0 && holdings.hidden == nil
    }

    /// Returns the sentence for the tokens that are left, with the command `next`, which gives their users new ones.
    package func sentence(next: RemintCommand) -> String {
        guard !isOver else { return "the ledger shows 0 live tokens of \(version)" }
        let reasons = holdings.reasons.isEmpty ? "" : " (\(holdings.reasons))"
        return "\(holdings.left)\(reasons)\(events); give their users new ones with: \(next)"
    }
}

/// A version that workers may still add tokens of to the ledger.
package struct UseNotOver: Error, CustomStringConvertible {
    package let description: String

    init(_ version: String, _ pending: PendingEvents, next: RemintCommand) {
        description =
            "\(version) cannot be retired or removed: the ledger shows no live token of it, but \(pending.clause(version)), then: \(next). Or use --force"
    }
}

private struct KafkaEventTopics: EventTopics {
    let configuration: Configuration
    let brokers: String
    let logger: Logger

    func events() async throws -> EventsBefore {
        try await EventsBefore(configuration, brokers: brokers, logger: logger)
    }

    func unanswered(_ events: EventsBefore) async throws -> Int {
        try await events.unanswered(configuration, brokers: brokers, logger: logger)
    }
}

/// The events that were on the workers' topics at a moment, to count those without an outcome.
///
/// A worker that stands still between consuming an event and committing its outcome knows only the key rings of that
/// time. Once the group has passed the event, either its outcome is published, or the transaction of that worker can no
/// longer be committed, because another worker has its partition (KIP-447). Events of retry tiers are not counted: they
/// may wait for hours before a worker takes them.
package struct EventsBefore {
    /// The lanes whose events workers take as soon as they come.
    private static let lanes = [Lane.live, .bulk]
    /// The largest number of offsets whose records are counted one by one. An offset may be a transaction's mark, which
    /// no worker passes before the next record arrives.
    private static let countedOneByOne: Int64 = 1000

    let marks: TopicMarks
    /// The names of the topics that brokers do not show to this account: whether events are on them is unknown.
    let unseen: [String]

    /// Reads the present events.
    ///
    /// - Parameter lanes: some of the live and the bulk lane.
    init(
        on lanes: [Lane] = Self.lanes, _ configuration: Configuration, brokers: String, logger: Logger
    ) async throws {
        let shown = try await KafkaProperties(configuration, bootstrapServers: brokers).topicNames(logger: logger)
        let (seen, unseen) = lanes.flatMap(configuration.topics(of:)).reduce(into: ([String](), [String]())) {
            if shown.contains($1) { $0.0.append($1) } else { $0.1.append($1) }
        }
        marks = try await TopicMarks.read(seen, configuration, brokers: brokers, logger: logger)
        self.unseen = unseen.sorted()
    }

    /// The events of `marks`.
    init(marks: TopicMarks, unseen: [String] = []) { (self.marks, self.unseen) = (marks, unseen) }

    /// Returns the number of the events that have no outcome yet.
    ///
    /// - Throws: `KafkaError`, or `MissingTopic` where a topic was deleted meanwhile.
    func unanswered(_ configuration: Configuration, brokers: String, logger: Logger) async throws -> Int {
        var count = 0
        for lane in Self.lanes {
            let topics = Set(configuration.topics(of: lane))
            let ends = marks.offsets.filter { topics.contains($0.partition.topic) }
            let properties = KafkaProperties(configuration, bootstrapServers: brokers).consumer(of: lane)
            for (partition, open) in try await gaps(ends, properties, logger) {
                count +=
                    open.count > Self.countedOneByOne
                    ? open.count : try await records(open, of: partition, configuration, brokers, logger)
            }
        }
        return count
    }

    /// Returns the offsets of each partition before its mark and behind those that the group committed.
    private func gaps(
        _ ends: [PartitionOffset], _ properties: ClientProperties, _ logger: Logger
    ) async throws -> [TopicPartition: Range<Int64>] {
        guard !ends.isEmpty else { return [:] }
        let consumer = try KafkaConsumer(properties, reading: [], logger: logger)
        return try await consumer.whileOpen { consumer in
            let partitions = ends.map(\.partition)
            let committed = try await consumer.committed(partitions, within: .seconds(10))
            let bounds = try await consumer.bounds(of: partitions, within: .seconds(10))
            // The lane's client knows only the end of the committed records: behind it, an open transaction may hide
            // earlier events.
            return ends.reduce(into: [:]) { gaps, end in
                let start = max(bounds[end.partition]?.lowerBound ?? 0, committed[end.partition] ?? 0)
                if start < end.offset { gaps[end.partition] = start..<end.offset }
            }
        }
    }

    private func records(
        _ offsets: Range<Int64>, of partition: TopicPartition, _ configuration: Configuration, _ brokers: String,
        _ logger: Logger
    ) async throws -> Int {
        let place = Int(partition.partition)
        let starts = [Int64](repeating: 0, count: place) + [offsets.lowerBound]
        let reader = try await TopicReader(
            partition.topic, from: starts, until: offsets.upperBound, configuration, brokers: brokers, maxWait: .zero,
            logger: logger)
        var count = 0
        let hidden = try await reader.readVisible([partition]) { _, _, _ in count += 1 }
        return count + (hidden?.count ?? 0)
    }
}
