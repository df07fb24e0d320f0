package import Kafka
package import Logging
import Pipeline
import Worker
package import WorkerConfiguration

/// A topic, read from its beginning to where it ended when the reading began; nothing is committed.
package struct TopicReader {
    private let properties: ClientProperties
    private let logger: Logger
    /// What each partition held when the reading began, in offsets.
    package let bounds: [TopicPartition: Range<Int64>]

    /// - Parameters:
    ///   - starts: the offset of each partition's first record that is read, in their order; nil for the beginning.
    ///   - end: the offset in each partition before which the reading ends; nil for where the partition ends.
    /// - Throws: `KafkaError`, or `MissingTopic`.
    package init(
        _ topic: String, from starts: [Int64]? = nil, until end: Int64? = nil, _ configuration: Configuration,
        brokers: String, logger: Logger
    ) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let partitions = try await properties.partitions(of: topic, logger: logger)
        self.properties = properties.reader(group: "\(configuration.kafka.group)-reader")
        self.logger = logger
        bounds = try await Self.with(self.properties, [], logger) { consumer in
            var bounds: [TopicPartition: Range<Int64>] = [:]
            for partition in partitions {
                let found = try await consumer.bounds(of: partition, within: .seconds(15))
                let place = Int(partition.partition)
                let start = starts.flatMap { $0.indices.contains(place) ? $0[place] : nil } ?? 0
                let last = max(found.lowerBound, min(end ?? .max, found.upperBound))
                bounds[partition] = min(max(found.lowerBound, start), last)..<last
            }
            return bounds
        }
    }

    /// Reads every record.
    ///
    /// - Parameter each: takes a record, how far the reading is, and how far it goes, in offsets.
    package func readAll(_ each: (ConsumedRecord, Int, Int) async throws -> Void) async throws {
        try await read(Array(bounds.keys), each)
    }

    /// Reads every record of `partitions`, with a client of its own, for one reads what it is told once.
    ///
    /// - Parameter each: takes a record, how far the reading is, and how far it goes, in offsets.
    package func read(
        _ partitions: [TopicPartition], _ each: (ConsumedRecord, Int, Int) async throws -> Void
    ) async throws {
        let meant = bounds.filter { partitions.contains($0.key) && !$0.value.isEmpty }
        guard !meant.isEmpty else { return }
        let starts = meant.map { PartitionOffset($0.key, offset: $0.value.lowerBound) }
        try await Self.with(properties, starts, logger) { consumer in
            try await Self.take(meant, from: consumer, each)
        }
    }

    private static func with<Result>(
        _ properties: ClientProperties, _ partitions: [PartitionOffset], _ logger: Logger,
        _ body: (KafkaConsumer) async throws -> Result
    ) async throws -> Result {
        let consumer = try KafkaConsumer(properties, reading: partitions, logger: logger)
        do {
            let result = try await body(consumer)
            await consumer.close(within: .seconds(5))
            return result
        } catch {
            await consumer.close(within: .seconds(5))
            throw error
        }
    }

    private static func take(
        _ bounds: [TopicPartition: Range<Int64>], from consumer: KafkaConsumer,
        _ each: (ConsumedRecord, Int, Int) async throws -> Void
    ) async throws {
        var reading = TopicReading(bounds)
        while !reading.isDone {
            for event in await consumer.events(limit: 1000, within: .seconds(1)) {
                switch event {
                case .record(let record):
                    guard reading.took(record.position) else { continue }
                    try await each(record, reading.done, reading.total)
                case .endOfPartition(let partition): reading.ended(partition)
                case .error(let error): if error.isFatal { throw error }
                case .rebalance: break
                }
            }
        }
    }
}

/// How far a topic was read that others still write to.
struct TopicReading {
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
        let partition = TopicPartition(position)
        guard let bounds = open[partition] else { return false }
        positions[partition] = min(position.nextOffset, bounds.upperBound)
        if position.nextOffset >= bounds.upperBound { open[partition] = nil }
        return position.offset < bounds.upperBound
    }

    /// Everything of a partition was read. The last offset may be a transaction's mark, which no reader sees.
    mutating func ended(_ partition: TopicPartition) {
        if let bounds = open.removeValue(forKey: partition) { positions[partition] = bounds.upperBound }
    }
}

/// A topic that is not there.
package struct MissingTopic: Error, CustomStringConvertible {
    package let description: String

    init(_ topic: String) { description = "the topic \(topic) does not exist or may not be read" }
}

extension KafkaProperties {
    /// Whether the cluster shows `topic`; asking never creates it.
    ///
    /// - Throws: `KafkaError`.
    func exists(_ topic: String, logger: Logger) async throws -> Bool {
        let producer = try KafkaProducer(producer, logger: logger)
        do {
            let names = try await producer.topicNames(within: .seconds(15))
            await producer.close(within: .seconds(1))
            return names.contains(topic)
        } catch {
            await producer.close(within: .seconds(1))
            throw error
        }
    }

    /// The partitions of `topic`.
    ///
    /// - Throws: `KafkaError`, or `MissingTopic`.
    func partitions(of topic: String, logger: Logger) async throws -> [TopicPartition] {
        let producer = try KafkaProducer(producer, logger: logger)
        let found: TopicMetadata
        do { found = try await producer.metadata(of: topic, within: .seconds(15)) } catch {
            await producer.close(within: .seconds(1))
            throw error
        }
        await producer.close(within: .seconds(1))
        guard found.partitionCount > 0 else { throw MissingTopic(topic) }
        return (0..<found.partitionCount).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
    }
}
