import Wiring
package import AdapterKit
package import Kafka
package import Logging
import Pipeline
package import WorkerConfiguration

/// A topic, read from its beginning to its end at the start of the reading; nothing is committed.
///
/// The end is behind the last record, committed or not. A record that was committed behind an open transaction reaches
/// no reader before that transaction ends. So a reading waits for it, and reports the offsets that stay hidden.
package struct TopicReader {
    /// The default for the longest time that a reading waits for an open transaction. A worker's own transaction ends
    /// within 15 seconds, and brokers abort expired ones every 10.
    package static let standardPatience = Duration.seconds(30)

    /// The longest time for which brokers may be silent during a reading.
    private static let silence = Duration.seconds(60)

    private let patience: Duration
    private let properties: ClientProperties
    private let logger: Logger
    /// Each partition's offsets at the start of the reading.
    package let bounds: [TopicPartition: Range<Int64>]

    /// - Parameters:
    ///   - starts: the first offset to read in each partition, in their order; nil for the beginning.
    ///   - time: the time from which records are read; nil for the beginning.
    ///   - end: the offset in each partition at which the reading ends; nil for the partition's end.
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
    /// - Parameter each: called with a record, the offsets passed so far, and all offsets of the reading.
    /// - Throws: `HiddenOffsets` where an open transaction hides some; `KafkaError`.
    package func readAll(_ each: (ConsumedRecord, Int, Int) async throws -> Void) async throws {
        if let hidden = try await readVisible(Array(bounds.keys), within: patience, each) { throw hidden }
    }

    /// Reads every readable record of `partitions`, with a client of its own, because a client reads its assignment
    /// once.
    ///
    /// - Parameters:
    ///   - patience: the longest time to wait for an open transaction; nil for the reader's.
    ///   - each: called with a record, the offsets passed so far, and all offsets of the reading.
    /// - Returns: the offsets that an open transaction still hides; nil where everything was read.
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

    /// Returns the time of the record at `place`, committed or not; nil where none arrives.
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
    /// The same properties, for a client that also reads records that are not committed or were aborted.
    fileprivate var readingUncommitted: ClientProperties { merging(["isolation.level": "read_uncommitted"]) }
}

/// The progress of reading a topic that producers may still write to.
struct TopicReading {
    private struct Place {
        let partition: TopicPartition
        let bounds: Range<Int64>
        var position: Int64
        var isOpen: Bool { position < bounds.upperBound }
    }

    private var places: [Place] = []
    private var numbers: [TopicPartition: Int] = [:]
    /// The place of the last record, which is mostly the next one's too: a look that hashes no name.
    private var lastNumber = 0
    private var openCount = 0
    /// How many offsets there are, and how many were passed.
    let total: Int
    private(set) var done = 0

    init(_ bounds: [TopicPartition: Range<Int64>]) {
        total = bounds.values.reduce(0) { $0 + $1.count }
        for (partition, bounds) in bounds where !bounds.isEmpty {
            numbers[partition] = places.count
            places.append(Place(partition: partition, bounds: bounds, position: bounds.lowerBound))
        }
        openCount = places.count
    }

    var isDone: Bool { openCount == 0 }

    /// Notes that a record was read.
    ///
    /// - Returns: whether the record was there when the reading began.
    mutating func took(_ position: RecordPosition) -> Bool {
        guard let number = number(of: position), places[number].isOpen else { return false }
        // A record may come again behind one that was read.
        pass(number, to: max(places[number].position, position.nextOffset))
        return position.offset < places[number].bounds.upperBound
    }

    /// Notes that a partition has no more records before `offset`. Its last offsets may be a transaction's marks, which
    /// no reader sees. Where the partition continues behind `offset`, an open transaction hides the rest.
    mutating func ended(_ partition: TopicPartition, at offset: Int64) {
        guard let number = numbers[partition], places[number].isOpen else { return }
        pass(number, to: max(places[number].position, offset))
    }

    private func number(of position: RecordPosition) -> Int? {
        if places.indices.contains(lastNumber), places[lastNumber].partition.partition == position.partition,
            places[lastNumber].partition.topic == position.topic
        {
            return lastNumber
        }
        return numbers[TopicPartition(position)]
    }

    private mutating func pass(_ number: Int, to offset: Int64) {
        let reached = min(offset, places[number].bounds.upperBound)
        done += Int(reached - places[number].position)
        places[number].position = reached
        if !places[number].isOpen { openCount -= 1 }
        lastNumber = number
    }

    /// The partitions of which not everything was read.
    var unread: [TopicPartition] { places.filter(\.isOpen).map(\.partition) }

    /// Returns the offsets that open transactions hide where committed records can be read up to `stable`.
    func hidden(behind stable: [TopicPartition: Int64]) -> [TopicPartition: Range<Int64>] {
        places.reduce(into: [:]) { hidden, place in
            guard place.isOpen, let end = stable[place.partition], end < place.bounds.upperBound else { return }
            hidden[place.partition] = max(end, place.position)..<place.bounds.upperBound
        }
    }
}

/// A topic that does not exist or may not be read.
package struct MissingTopic: Error, CustomStringConvertible {
    package let description: String

    init(_ topic: String) { description = "the topic \(topic) does not exist or may not be read" }
}

extension KafkaProperties {
    /// Returns the topics that the cluster shows to this account. Asking never creates one.
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

    /// Returns the partitions of `topic`.
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
