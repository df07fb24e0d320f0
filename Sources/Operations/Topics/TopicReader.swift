import Wiring
package import AdapterKit
package import Kafka
package import Logging
import Pipeline
package import WorkerConfiguration

/// A topic, read from its beginning to where it ended when the reading began; nothing is committed.
///
/// It ends where its last record lies, committed or not. What was committed behind an open transaction no reader gets before that
/// transaction ends, so a reading waits for it, and says what stays hidden.
package struct TopicReader {
    /// The longest time for which a reading waits for an open transaction where nothing else is said. A worker's own ends within 15 seconds,
    /// as brokers look for those that timed out every 10.
    package static let standardPatience = Duration.seconds(30)

    /// The longest time for which brokers may be silent within a reading.
    private static let silence = Duration.seconds(60)

    private let patience: Duration
    private let properties: ClientProperties
    private let logger: Logger
    /// What each partition held when the reading began, in offsets.
    package let bounds: [TopicPartition: Range<Int64>]

    /// - Parameters:
    ///   - starts: the offset of each partition's first record that is read, in their order; nil for the beginning.
    ///   - time: the time before which no record is read; nil for the beginning.
    ///   - end: the offset in each partition before which the reading ends; nil for where the partition ends.
    ///   - patience: the longest time to wait for an open transaction.
    /// - Throws: `KafkaError`, or `MissingTopic`.
    package init(
        _ topic: String, from starts: [Int64]? = nil, since time: UnixTime? = nil, until end: Int64? = nil,
        _ configuration: Configuration, brokers: String, patience: Duration = Self.standardPatience, logger: Logger
    ) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let partitions = try await properties.partitions(of: topic, logger: logger)
        self.properties = properties.reader(group: "\(configuration.kafka.group)-reader")
        self.patience = patience
        self.logger = logger
        bounds = try await Self.with(self.properties.readingUncommitted, [], logger) { consumer in
            var bounds: [TopicPartition: Range<Int64>] = [:]
            var firsts: [TopicPartition: Int64]?
            if let time {
                firsts = try await consumer.offsets(
                    of: partitions, notBefore: time.milliseconds, within: .seconds(15))
            }
            for partition in partitions {
                let found = try await consumer.bounds(of: partition, within: .seconds(15))
                let place = Int(partition.partition)
                // A partition without a record of that time or later has none to read.
                let first = firsts.map { $0[partition] ?? found.upperBound }
                let start = starts.flatMap { $0.indices.contains(place) ? $0[place] : nil } ?? first ?? 0
                let last = max(found.lowerBound, min(end ?? .max, found.upperBound))
                bounds[partition] = min(max(found.lowerBound, start), last)..<last
            }
            return bounds
        }
    }

    /// Reads every record.
    ///
    /// - Parameter each: takes a record, how far the reading is, and how far it goes, in offsets.
    /// - Throws: `HiddenOffsets` where an open transaction hides some; `KafkaError`.
    package func readAll(_ each: (ConsumedRecord, Int, Int) async throws -> Void) async throws {
        if let hidden = try await readVisible(Array(bounds.keys), within: patience, each) { throw hidden }
    }

    /// Reads every record of `partitions` that can be read, with a client of its own, for one reads what it is told once.
    ///
    /// - Parameters:
    ///   - patience: the longest time to wait for an open transaction; nil for the reader's.
    ///   - each: takes a record, how far the reading is, and how far it goes, in offsets.
    /// - Returns: what an open transaction still hides; nil where everything was read.
    package func readVisible(
        _ partitions: [TopicPartition], within patience: Duration? = nil,
        _ each: (ConsumedRecord, Int, Int) async throws -> Void
    ) async throws -> HiddenOffsets? {
        let meant = bounds.filter { partitions.contains($0.key) && !$0.value.isEmpty }
        guard !meant.isEmpty else { return nil }
        let starts = meant.map { PartitionOffset($0.key, offset: $0.value.lowerBound) }
        let hidden = try await Self.with(properties, starts, logger) { consumer in
            try await Self.take(meant, from: consumer, within: patience ?? self.patience, each)
        }
        guard let first = hidden.min(by: { $0.key.partition < $1.key.partition }) else { return nil }
        return HiddenOffsets(
            first.key, count: hidden.values.reduce(0) { $0 + $1.count },
            since: try await beginning(at: PartitionOffset(first.key, offset: first.value.lowerBound)))
    }

    /// The time of the record at `place`, whether it is committed or not; nil where none comes.
    private func beginning(at place: PartitionOffset) async throws -> UnixTime? {
        try await Self.with(properties.readingUncommitted, [place], logger) { consumer in
            let end = ContinuousClock.now + .seconds(3)
            while .now < end {
                for event in await consumer.events(limit: 1, within: .seconds(1)) {
                    if case .record(let record) = event { return record.timestamp.map(UnixTime.init(milliseconds:)) }
                }
            }
            return nil
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
        _ bounds: [TopicPartition: Range<Int64>], from consumer: KafkaConsumer, within patience: Duration,
        _ each: (ConsumedRecord, Int, Int) async throws -> Void
    ) async throws -> [TopicPartition: Range<Int64>] {
        var reading = TopicReading(bounds)
        var last = ContinuousClock.now
        while !reading.isDone {
            let before = reading.done
            for event in await consumer.events(limit: 1000, within: .seconds(1)) {
                switch event {
                case .record(let record):
                    guard reading.took(record.position) else { continue }
                    try await each(record, reading.done, reading.total)
                case .endOfPartition(let partition, let offset): reading.ended(partition, at: offset)
                case .error(let error): if error.isFatal { throw error }
                case .rebalance: break
                }
            }
            if reading.done > before { last = .now }
            guard !reading.isDone, .now - last >= .milliseconds(900) else { continue }
            let stable: [TopicPartition: Range<Int64>]
            do { stable = try await consumer.bounds(of: reading.unread, within: .seconds(15)) } catch {
                guard .now - last < silence else { throw error }
                continue
            }
            let hidden = reading.hidden(behind: stable.mapValues(\.upperBound))
            if hidden.count == reading.unread.count, .now - last >= patience { return hidden }
        }
        return [:]
    }
}

extension ClientProperties {
    /// The same for a client that sees what transactions have not committed, or never will.
    fileprivate var readingUncommitted: ClientProperties { merging(["isolation.level": "read_uncommitted"]) }
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

    /// A partition has no more before `offset`. Its last offsets may be a transaction's marks, which no reader sees; where it goes on
    /// behind `offset`, an open transaction hides the rest.
    mutating func ended(_ partition: TopicPartition, at offset: Int64) {
        guard let bounds = open[partition] else { return }
        let reached = min(max(positions[partition] ?? bounds.lowerBound, offset), bounds.upperBound)
        positions[partition] = reached
        if reached == bounds.upperBound { open[partition] = nil }
    }

    /// The partitions of which not everything was read.
    var unread: [TopicPartition] { Array(open.keys) }

    /// The offsets that open transactions hide where committed records can be read up to `stable`.
    func hidden(behind stable: [TopicPartition: Int64]) -> [TopicPartition: Range<Int64>] {
        open.reduce(into: [:]) { hidden, entry in
            guard let end = stable[entry.key], end < entry.value.upperBound else { return }
            hidden[entry.key] = max(end, positions[entry.key] ?? entry.value.lowerBound)..<entry.value.upperBound
        }
    }
}

/// A topic that is not there.
package struct MissingTopic: Error, CustomStringConvertible {
    package let description: String

    init(_ topic: String) { description = "the topic \(topic) does not exist or may not be read" }
}

extension KafkaProperties {
    /// The topics that the cluster shows to this account; asking never creates one.
    ///
    /// - Throws: `KafkaError`.
    func topicNames(logger: Logger) async throws -> Set<String> {
        let producer = try KafkaProducer(producer, logger: logger)
        do {
            let names = try await producer.topicNames(within: .seconds(15))
            await producer.close(within: .seconds(1))
            return Set(names)
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
