import Kafka
package import Keyring
package import Logging
import Pipeline
package import WorkerConfiguration

extension TopicMarks {
    /// Reads the present ends of `topics`.
    ///
    /// - Throws: `KafkaError` or `MissingTopic`.
    package static func read(
        _ topics: [String], _ configuration: Configuration, brokers: String, logger: Logger
    ) async throws -> TopicMarks {
        var ends: [String: [Int64]] = [:]
        for topic in topics {
            let reader = try await TopicReader(topic, configuration, brokers: brokers, logger: logger)
            ends[topic] = reader.bounds.sorted { $0.key.partition < $1.key.partition }.map(\.value.upperBound)
        }
        return TopicMarks(ends)
    }

    /// The starting offsets of a consumer that reads from these ends on.
    var offsets: [PartitionOffset] {
        ends.flatMap { topic, offsets in
            offsets.enumerated().map { place, offset in
                PartitionOffset(TopicPartition(topic: topic, partition: Int32(clamping: place)), offset: offset)
            }
        }
    }
}
