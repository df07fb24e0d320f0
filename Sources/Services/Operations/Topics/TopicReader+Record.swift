package import Kafka
package import Logging
import Pipeline
package import WorkerConfiguration

extension TopicReader {
    /// Returns the committed record at `offset` of `partition` in `topic`; nil where there is none.
    ///
    /// - Throws: `KafkaError`, or `MissingTopic`.
    package static func record(
        at offset: Int64, of partition: Int32, in topic: String, _ configuration: Configuration, brokers: String,
        logger: Logger
    ) async throws -> ConsumedRecord? {
        let starts = Array(repeating: offset, count: Int(partition) + 1)
        let reader = try await TopicReader(
            topic, from: starts, until: RecordPosition.next(after: offset), configuration, brokers: brokers,
            logger: logger)
        var found: ConsumedRecord?
        let hidden = try await reader.readVisible([TopicPartition(topic: topic, partition: partition)]) {
            record, _, _ in
            found = record
        }
        if let hidden { throw hidden }
        return found
    }
}
