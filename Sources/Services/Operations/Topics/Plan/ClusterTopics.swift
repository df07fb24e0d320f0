import Kafka
package import Logging
import Wiring
package import WorkerConfiguration

/// The cluster's topics, read and created by an operator's command.
package struct ClusterTopics {
    private static let timeout = Duration.seconds(30)

    private let properties: KafkaProperties
    private let logger: Logger

    /// The topics at `brokers`.
    package init(_ configuration: Configuration, brokers: String, logger: Logger) {
        properties = KafkaProperties(configuration, bootstrapServers: brokers)
        self.logger = logger
    }

    /// Reads the topics of `wanted` that the cluster has and shows, by name. Asking creates none.
    ///
    /// - Throws: `KafkaError`; DESCRIBE and DESCRIBE_CONFIGS on the topics are needed.
    package func read(_ wanted: [WantedTopic]) async throws -> [String: ActualTopic] {
        let names = Set(wanted.map(\.name))
        return try await KafkaProducer(properties.producer, logger: logger).whileOpen { producer in
            let listed = try await producer.topics(within: Self.timeout).filter {
                names.contains($0.name) && $0.partitionCount > 0
            }
            let settings = try await producer.settings(of: listed.map(\.name), within: Self.timeout)
            return Dictionary(
                listed.map { topic in
                    let actual = ActualTopic(
                        partitions: topic.partitionCount, replication: topic.replication,
                        settings: settings[topic.name] ?? [:])
                    return (topic.name, actual)
                }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Creates `topics`, which do not exist. A topic that cannot be created does not stop the others.
    ///
    /// - Parameter each: called with each topic, and with the error if it could not be created.
    /// Returns once the brokers' metadata shows every created topic, or after the timeout.
    ///
    /// - Throws: `KafkaError` where no client can be made.
    package func create(_ topics: [WantedTopic], _ each: (WantedTopic, (any Error)?) -> Void) async throws {
        try await KafkaProducer(properties.producer, logger: logger).whileOpen { producer in
            var unseen: Set<String> = []
            for topic in topics {
                let settings = topic.settings.map { ($0.name, $0.value) }
                do {
                    try await producer.createTopic(
                        topic.name, partitions: topic.partitions, replication: topic.replication,
                        settings: Dictionary(settings, uniquingKeysWith: { first, _ in first }), within: Self.timeout)
                    unseen.insert(topic.name)
                    each(topic, nil)
                } catch {
                    each(topic, error)
                }
            }
            let end = ContinuousClock.now + Self.timeout
            while !unseen.isEmpty, .now < end {
                let listed = try? await producer.topics(within: Self.timeout)
                unseen.subtract(listed?.filter { $0.partitionCount > 0 }.map(\.name) ?? [])
                if !unseen.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
            }
        }
    }
}
