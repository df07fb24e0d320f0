import Kafka
import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// The dead letters' topic, read from its beginning to where it ended when the reading began.
struct DeadLetterTopic {
    private let consumer: KafkaConsumer
    private let bounds: [TopicPartition: Range<Int64>]

    /// - Throws: `KafkaError`, or `WorkerError` where the topic does not exist.
    init(_ configuration: Configuration, brokers: String, logger: Logger) async throws {
        let topic = configuration.topics.deadLetters
        let properties = KafkaProperties(configuration, bootstrapServers: brokers).reader(
            group: "\(configuration.kafka.group)-dead-letters")
        let producer = try KafkaProducer(
            KafkaProperties(configuration, bootstrapServers: brokers).producer, logger: logger)
        let found = try await producer.metadata(of: topic, within: .seconds(15))
        await producer.close(within: .seconds(1))
        let partitions = (0..<found.partitionCount).map {
            TopicPartition(topic: topic, partition: Int32(clamping: $0))
        }
        guard !partitions.isEmpty else { throw MissingTopic(topic) }
        consumer = try KafkaConsumer(
            properties, reading: partitions.map { PartitionOffset($0, offset: 0) }, logger: logger)
        var bounds: [TopicPartition: Range<Int64>] = [:]
        for partition in partitions {
            bounds[partition] = try await consumer.bounds(of: partition, within: .seconds(15))
        }
        self.bounds = bounds
    }

    /// Reads every record.
    ///
    /// - Parameter each: takes a record, how far the reading is, and how far it goes, in offsets.
    func readAll(_ each: (InputRecord, Int, Int) -> Void) async throws {
        var reading = DeadLetterReading(bounds)
        while !reading.isDone {
            for event in await consumer.events(limit: 1000, within: .seconds(1)) {
                switch event {
                case .record(let record):
                    guard reading.took(record.position) else { continue }
                    each(InputRecord(deadLetter: record), reading.done, reading.total)
                case .endOfPartition(let partition): reading.ended(partition)
                case .error(let error): if error.isFatal { throw error }
                case .rebalance: break
                }
            }
        }
        await consumer.close(within: .seconds(5))
    }
}

/// How far a topic was read that others still write to.
struct DeadLetterReading {
    private var open: [TopicPartition: Range<Int64>]
    private let starts: [TopicPartition: Int64]
    private var positions: [TopicPartition: Int64]
    /// How many offsets there are, and how many were passed.
    let total: Int

    init(_ bounds: [TopicPartition: Range<Int64>]) {
        open = bounds.filter { !$0.value.isEmpty }
        starts = bounds.mapValues(\.lowerBound)
        positions = starts
        total = bounds.values.reduce(0) { $0 + $1.count }
    }

    var isDone: Bool { open.isEmpty }
    var done: Int { positions.reduce(0) { $0 + Int($1.value - (starts[$1.key] ?? $1.value)) } }

    /// A record was read.
    ///
    /// - Returns: whether it was there when the reading began.
    mutating func took(_ position: RecordPosition) -> Bool {
        let partition = TopicPartition(topic: position.topic, partition: position.partition)
        guard let bounds = open[partition] else { return false }
        positions[partition] = min(position.offset + 1, bounds.upperBound)
        if position.offset + 1 >= bounds.upperBound { open[partition] = nil }
        return position.offset < bounds.upperBound
    }

    /// Everything of a partition was read. The last offset may be a transaction's mark, which no reader sees.
    mutating func ended(_ partition: TopicPartition) {
        if let bounds = open.removeValue(forKey: partition) { positions[partition] = bounds.upperBound }
    }
}

/// A topic that is not there.
struct MissingTopic: Error, CustomStringConvertible {
    let description: String

    init(_ topic: String) { description = "the topic \(topic) does not exist or may not be read" }
}

extension InputRecord {
    /// A dead letter as the pipeline reads it.
    init(deadLetter record: ConsumedRecord) {
        self.init(
            origin: Origin(
                topic: record.position.topic, partition: record.position.partition, offset: record.position.offset),
            timestamp: nil, key: record.key, value: record.value,
            headers: record.headers.map { Header($0.name, $0.value) },
            // Like a retry's, its headers are a worker's and say where the event first stood.
            lane: .retries)
    }
}
