import Kafka
package import Logging
import Wiring
package import WorkerConfiguration

extension LetterStates {
    /// Reads the states of all letters from the topic of parked letters; nil where the topic does not exist.
    ///
    /// - Parameters:
    ///   - maxWait: the longest time to wait for an open transaction.
    ///   - maxStall: the longest time in which no record arrives.
    /// - Throws: `KafkaError`, or `HiddenOffsets`.
    package static func read(
        _ configuration: Configuration, brokers: String, within maxWait: Duration = TopicReader.standardMaxWait,
        maxStall: Duration = TopicReader.silence, logger: Logger
    ) async throws -> LetterStates? {
        let topic = configuration.topics.parkedLetters
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        guard try await properties.topicNames(logger: logger).contains(topic) else { return nil }
        var states = LetterStates()
        let reader = try await TopicReader(
            topic, configuration, brokers: brokers, maxWait: maxWait, maxStall: maxStall, logger: logger)
        try await reader.readAll { record, _, _ in states.take(record.body) }
        return states
    }
}
