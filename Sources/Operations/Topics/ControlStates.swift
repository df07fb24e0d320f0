import Kafka
package import Logging
package import Pipeline
import Worker
package import WorkerConfiguration

/// The control topic, read and written by an operator's command.
package struct ControlStates {
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger

    /// The control topic at `brokers`.
    package init(_ configuration: Configuration, brokers: String, logger: Logger) {
        self.configuration = configuration
        self.brokers = brokers
        self.logger = logger
    }

    /// The apps whose events wait.
    ///
    /// - Throws: `KafkaError` or `MissingTopic`.
    package func read() async throws -> [String: Suspension] {
        var held: [String: Suspension] = [:]
        let reader = try await TopicReader(
            configuration.topics.control, configuration, brokers: brokers, logger: logger)
        try await reader.readAll { record, _, _ in
            let group = configuration.kafka.group
            if let control = ControlRecord(key: record.key, value: record.value, group: group) {
                held[control.app] = control.suspension
            }
        }
        return held
    }

    /// Tells every worker what holds `app`, or that nothing does.
    ///
    /// - Throws: `KafkaError`.
    package func write(_ app: String, _ suspension: Suspension?) async throws {
        let record = ControlRecord(group: configuration.kafka.group, app: app, suspension: suspension)
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let producer = try KafkaProducer(properties.producer, logger: logger)
        let error =
            await producer.deliver([
                ProducerRecord(topic: configuration.topics.control, key: record.key, value: record.value)
            ]).first ?? nil
        await producer.close(within: .seconds(5))
        if let error { throw error }
    }
}
