import Kafka
import Logging
import Telemetry
import WorkerConfiguration

/// The broker in this process, with the worker's topics on it.
enum EmbeddedTopics {
    /// Enough to spread 5 MiB partitions over, and to see work shared.
    private static let partitions = 8

    static func start(_ configuration: Configuration, logger: Logger) async throws(KafkaError) -> EmbeddedBroker {
        let broker = try EmbeddedBroker(logger: logger)
        for topic in configuration.allTopics {
            try await broker.createTopic(topic, partitions: partitions)
        }
        try await broker.createTopic(configuration.topics.control, partitions: 1)
        logger.notice(
            "the embedded broker listens; it keeps nothing and isolates no transaction, so delivery is at least once",
            metadata: [LogKey.bootstrapServers: "\(broker.bootstrapServers)"])
        return broker
    }
}
