import Kafka
import Logging
import Pipeline
import WorkerConfiguration

/// The lanes' consumers, each a member of a group of its own, served by one task.
struct LaneConsumers: Sendable {
    let consumers: PerLane<KafkaConsumer>
    /// Signalled when any of them has something to take.
    let wakeup: Wakeup
    private let tiers: [String: Int]

    init(_ configuration: Configuration, _ properties: KafkaProperties, logger: Logger) throws(KafkaError) {
        let wakeup = Wakeup()
        self.wakeup = wakeup
        consumers = try PerLane { lane throws(KafkaError) in
            try KafkaConsumer(
                properties.consumer(of: lane), topics: configuration.topics(of: lane), wakeup: wakeup, logger: logger)
        }
        tiers = Dictionary(configuration.retryTopics.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// A consumed record as the pipeline takes it.
    func input(_ record: ConsumedRecord, lane: Lane) -> InputRecord {
        InputRecord(record, lane: lane, tier: lane == .retries ? tiers[record.position.topic] : nil)
    }

    /// Leaves the groups, all at once.
    ///
    /// - Returns: false where that took longer than `limit`.
    func close(within limit: Duration) async -> Bool {
        await withTaskGroup { group in
            for lane in Lane.allCases { group.addTask { await consumers[lane].close(within: limit) } }
            var isClosed = true
            for await closed in group where !closed { isClosed = false }
            return isClosed
        }
    }
}
