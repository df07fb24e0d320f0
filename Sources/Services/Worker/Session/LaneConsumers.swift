import AdapterKit
import Kafka
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// The lanes' consumers, each a member of a group of its own, served by one task.
struct LaneConsumers: Sendable {
    let consumers: PerLane<KafkaConsumer>
    let wakeup: Wakeup
    private let tiers: [String: Int]
    private let tracing: EventTracing?
    private let retries: RetryPolicy

    /// - Parameters:
    ///   - place: The name by which the groups know this worker after a restart; nil for none.
    ///   - wakeup: A wake-up that is signaled when any of the consumers has something to take.
    ///   - tracing: The tracing of events; nil for none.
    init(
        _ configuration: Configuration, _ properties: KafkaProperties, place: String? = nil, wakeup: Wakeup = Wakeup(),
        tracing: EventTracing? = nil, logger: Logger
    ) async throws(KafkaError) {
        self.tracing = tracing
        retries = configuration.retryPolicy
        self.wakeup = wakeup
        consumers = try await Self.make { (lane) throws(KafkaError) in
            let topics = configuration.topics(of: lane)
            return try KafkaConsumer(
                properties.member(of: lane, topics: topics, place: place), topics: topics, wakeup: wakeup,
                logger: logger)
        }
        tiers = Dictionary(configuration.retryTopics.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// Makes a consumer for each lane. If one cannot be made, the earlier ones are closed, because nobody else could
    /// close them and they would stay members of their groups.
    static func make(
        _ make: (Lane) throws(KafkaError) -> KafkaConsumer
    ) async throws(KafkaError) -> PerLane<KafkaConsumer> {
        var made: [KafkaConsumer] = []
        do throws(KafkaError) {
            return try PerLane { (lane) throws(KafkaError) in
                let consumer = try make(lane)
                made.append(consumer)
                return consumer
            }
        } catch {
            for consumer in made { await consumer.close(within: .seconds(1)) }
            throw error
        }
    }

    struct Taken: Sendable {
        /// The number of records and other events.
        var count = 0
        var records: [InputRecord] = []
        var time: RecordTime?
        var others: [KafkaConsumer.Event] = []
    }

    /// Takes the present records of `lane`, at most `limit` of them.
    @concurrent
    func take(_ limit: Int, of lane: Lane) async -> Taken {
        var taken = Taken()
        guard limit > 0 else { return taken }
        let events = await consumers[lane].events(limit: limit, within: .zero)
        taken.count = events.count
        taken.records.reserveCapacity(events.count)
        taken.time = Self.time(of: events)
        for event in events {
            guard case .record(let record) = event else {
                taken.others.append(event)
                continue
            }
            let tier = lane == .retries ? tiers[record.position.topic] : nil
            taken.records.append(
                InputRecord(record, lane: lane, tier: tier, trace: trace(of: record, lane, tier: tier)))
        }
        return taken
    }

    /// Returns the latest time of the records among `events`: those of one wrong clock may be among many of right ones.
    static func time(of events: [KafkaConsumer.Event]) -> RecordTime? {
        var latest: ConsumedRecord?
        for case .record(let record) in events where record.timestamp ?? .min > latest?.timestamp ?? .min {
            latest = record
        }
        return latest.flatMap { RecordTime($0) }
    }

    /// Begins the trace of `record`; nil if it is not traced.
    private func trace(of record: ConsumedRecord, _ lane: Lane, tier: Int?) -> EventTrace? {
        guard let tracing else { return nil }
        let produced = record.timestamp.map { UnixTime(milliseconds: $0) }
        return tracing.begin(record.body, at: record.position, lane: lane, producedAt: produced) { now in
            retries.dueTime(of: record.body, tier: tier, producedAt: produced, takenAt: now)
        }
    }

    /// Leaves the groups, all at once.
    ///
    /// - Parameter keepsPlaces: Whether the partitions wait for the worker that follows with the same name.
    /// - Returns: false where that took longer than `limit`.
    func close(within limit: Duration, keepsPlaces: Bool = false) async -> Bool {
        await withTaskGroup { group in
            for lane in Lane.allCases {
                group.addTask { await consumers[lane].close(within: limit, keepsPlace: keepsPlaces) }
            }
            var isClosed = true
            for await closed in group where !closed { isClosed = false }
            return isClosed
        }
    }
}

/// The paused partitions, so that the worker calls the consumers only for changes.
struct PartitionWatch {
    enum Paused: Equatable {
        case everything
        case some(Set<TopicPartition>)
    }

    private var applied = PerLane<Paused?> { _ in nil }

    mutating func forget(_ lane: Lane) { applied[lane] = nil }

    /// Pauses the partitions of `paused` and resumes the rest.
    mutating func apply(_ paused: Paused, to consumer: KafkaConsumer, _ lane: Lane) async throws(KafkaError) {
        guard applied[lane] != paused else { return }
        let assigned = await consumer.assignedPartitions
        let wanted: Set<TopicPartition> =
            switch paused {
            case .everything: assigned
            case .some(let partitions): partitions
            }
        try await consumer.pause(wanted)
        try await consumer.resume(assigned.subtracting(wanted))
        applied[lane] = paused
    }
}

extension InputRecord {
    convenience init(_ record: ConsumedRecord, lane: Lane, tier: Int?, trace: EventTrace? = nil) {
        self.init(
            origin: record.position, timestamp: record.timestamp.map { UnixTime(milliseconds: $0) }, body: record.body,
            lane: lane, tier: tier, trace: trace)
    }
}
