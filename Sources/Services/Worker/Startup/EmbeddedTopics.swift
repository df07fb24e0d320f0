import Kafka
import Logging
import Telemetry
import Wiring
import WorkerConfiguration

/// The broker in this process, with the worker's topics on it and, where the configuration names one, a port of its own.
struct EmbeddedTopics: Sendable {
    /// Enough to spread 5 MiB partitions over, and to see work shared.
    private static let partitions = 8

    private let broker: EmbeddedBroker
    private let port: EmbeddedPort?

    /// The broker's own address.
    var bootstrapServers: String { broker.bootstrapServers }

    /// Starts the broker.
    ///
    /// - Throws: `KafkaError`, or `WorkerError` where the configured port cannot be used.
    static func start(_ configuration: Configuration, logger: Logger) async throws -> EmbeddedTopics {
        let broker = try EmbeddedBroker(logger: logger)
        do {
            for topic in configuration.allTopics {
                try await broker.createTopic(topic, partitions: partitions)
            }
            try await broker.createTopic(configuration.topics.control, partitions: 1)
            var port: EmbeddedPort?
            if let number = configuration.kafka.embeddedPort {
                port = try await EmbeddedPort.open(number, to: broker.bootstrapServers)
            }
            logger.notice(
                "embedded-broker.listening",
                "the embedded broker listens; it keeps nothing and isolates no transaction, so delivery is at least once",
                metadata: [LogKey.bootstrapServers: "\(port?.address ?? broker.bootstrapServers)"])
            return EmbeddedTopics(broker: broker, port: port)
        } catch {
            await broker.close()
            throw error
        }
    }

    /// Ends the broker, after every client of this process was closed.
    func close() async {
        await port?.close()
        await broker.close()
    }
}
