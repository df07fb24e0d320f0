import AdapterKit
import Kafka
import Pipeline
import WorkerConfiguration

extension InputRecord {
    /// A consumed record as the pipeline takes it.
    init(_ record: ConsumedRecord) {
        self.init(
            origin: Origin(
                topic: record.position.topic, partition: record.position.partition, offset: record.position.offset),
            timestamp: record.timestamp.map { UnixTime(milliseconds: $0) }, key: record.key, value: record.value,
            headers: record.headers.map { Header($0.name, $0.value) })
    }
}

extension ProducerRecord {
    /// A record of the pipeline's on its way to its topic.
    init(_ record: OutputRecord, topics: Configuration.Topics) {
        let topic =
            switch record.destination {
            case .tokens: topics.tokens
            case .deadLetters: topics.deadLetters
            }
        self.init(
            topic: topic, key: record.key, value: record.value,
            headers: record.headers.map { RecordHeader($0.name, $0.value) })
    }
}

extension PartitionProgress.Partition {
    init(_ partition: TopicPartition) { self.init(topic: partition.topic, number: partition.partition) }
}
