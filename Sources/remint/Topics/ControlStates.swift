import ArgumentParser
import Kafka
import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// The control topic, read and written by an operator's command.
struct ControlStates {
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger

    init(_ configuration: Configuration, brokers: String) {
        self.configuration = configuration
        self.brokers = brokers
        logger = Logger.quiet(configuration.log)
    }

    /// The apps whose events wait.
    ///
    /// - Throws: `ExitCode` 75 where the topic cannot be read.
    func read() async throws -> [String: Suspension] {
        var held: [String: Suspension] = [:]
        do {
            let reader = try await TopicReader(
                configuration.topics.control, configuration, brokers: brokers, logger: logger)
            try await reader.readAll { record, _, _ in
                let group = configuration.kafka.group
                if let control = ControlRecord(key: record.key, value: record.value, group: group) {
                    held[control.app] = control.suspension
                }
            }
        } catch {
            Terminal.error("remint: the control topic cannot be read: \(error)")
            throw ExitCode(75)
        }
        return held
    }

    /// Tells every worker what holds `app`, or that nothing does.
    ///
    /// - Throws: `ExitCode` 75 where the topic cannot be written.
    func write(_ app: String, _ suspension: Suspension?) async throws {
        let record = ControlRecord(group: configuration.kafka.group, app: app, suspension: suspension)
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let producer = try KafkaProducer(properties.producer, logger: logger)
        let error =
            await producer.deliver([
                ProducerRecord(topic: configuration.topics.control, key: record.key, value: record.value)
            ]).first ?? nil
        await producer.close(within: .seconds(5))
        guard let error else { return }
        Terminal.error("remint: the control topic was not written: \(error)")
        throw ExitCode(75)
    }
}
