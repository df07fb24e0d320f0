import Kafka
package import Logging
import Pipeline
package import Wiring
package import WorkerConfiguration

/// The number of events of the bulk lane that wait for the workers: the ends of its partitions less the offsets that
/// its group committed.
package actor BulkLag {
    private let topic: String
    private let properties: KafkaProperties
    private let logger: Logger
    private var consumer: KafkaConsumer?
    private var partitions: [TopicPartition] = []
    private var last: (value: Int, at: ContinuousClock.Instant)?

    package init(_ configuration: Configuration, _ properties: KafkaProperties, logger: Logger) {
        topic = configuration.topics.invalidationsBulk
        self.properties = properties
        self.logger = logger
    }

    /// The lag, asked of the brokers once a second at most; nil where they do not return it.
    package var value: Int? {
        get async {
            if let last, .now - last.at < .seconds(1) { return last.value }
            return await current
        }
    }

    /// The lag, asked of the brokers now; nil where they do not return it.
    var current: Int? { get async { try? await ask() } }

    /// - Throws: `KafkaError` or `MissingTopic`.
    package func ask() async throws -> Int {
        let consumer = try await reader()
        let lag = try await consumer.lag(of: partitions, within: .seconds(10))
        let value = Int(clamping: lag.values.reduce(0, +))
        last = (value, .now)
        return value
    }

    /// Returns a client that reads nothing and only asks in the name of the bulk lane's group.
    private func reader() async throws -> KafkaConsumer {
        if let consumer { return consumer }
        partitions = try await properties.partitions(of: topic, logger: logger)
        let consumer = try KafkaConsumer(properties.consumer(of: .bulk), reading: [], logger: logger)
        self.consumer = consumer
        return consumer
    }

    package func close() async {
        await consumer?.close(within: .seconds(1))
        consumer = nil
    }
}
