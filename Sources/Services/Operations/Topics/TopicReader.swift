package import AdapterKit
import Formats
import Foundation
package import Kafka
package import Keyring
package import Logging
import Pipeline
import Wiring
package import WorkerConfiguration

/// A topic, read from its beginning to its end at the start of the reading; nothing is committed.
///
/// The end is behind the last record, committed or not. A record that was committed behind an open transaction reaches
/// no reader before that transaction ends. So a reading waits for it, and reports the offsets that stay hidden.
package struct TopicReader {
    /// The default for the longest time that a reading waits for an open transaction. A worker's own transaction ends
    /// within 15 seconds, and brokers abort expired ones every 10.
    package static let standardMaxWait = Duration.seconds(30)

    /// The default number of processors that read records at once. A few processors are enough for what one client
    /// fetches.
    package static let standardCores = min(4, ProcessInfo.processInfo.activeProcessorCount)

    /// The longest time for which brokers may be silent within a reading, or a partition may give nothing.
    package static let silence = Duration.seconds(60)
    /// The longest time for closing a client.
    private static let closing = Duration.seconds(5)

    private let maxWait: Duration
    private let maxStall: Duration
    private let brokers: String
    private let properties: ClientProperties
    private let logger: Logger
    /// Each partition's offsets at the start of the reading.
    package let bounds: [TopicPartition: Range<Int64>]

    /// - Parameters:
    ///   - starts: the first offset to read in each partition, in their order; nil for the beginning.
    ///   - time: the time from which records are read; nil for the beginning.
    ///   - end: the offset in each partition at which the reading ends; nil for the partition's end.
    ///   - maxWait: the longest time to wait for an open transaction.
    ///   - maxStall: the longest time in which no record arrives that could be read.
    package init(
        _ topic: String, from starts: [Int64]? = nil, since time: UnixTime? = nil, until end: Int64? = nil,
        _ configuration: Configuration, brokers: String, maxWait: Duration = Self.standardMaxWait,
        maxStall: Duration = Self.silence, logger: Logger
    ) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let partitions = try await properties.partitions(of: topic, logger: logger)
        self.properties = properties.reader(group: "\(configuration.kafka.group)-reader")
        self.maxWait = maxWait
        self.maxStall = maxStall
        self.brokers = brokers
        self.logger = logger
        let asking = try KafkaConsumer(self.properties.readingUncommitted, reading: [], logger: logger)
        bounds = try await asking.whileOpen(closingWithin: Self.closing) { consumer in
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
    /// - Throws: `HiddenOffsets` where an open transaction hides some; `KafkaError`, for instance for a record batch that cannot be
    ///   unpacked; `StalledReading`.
    package func readAll(_ each: (ConsumedRecord, Int, Int) async throws -> Void) async throws {
        if let hidden = try await readVisible(Array(bounds.keys), within: maxWait, each) { throw hidden }
    }

    /// Reads every readable record of `partitions`, with a client of its own, because a client reads its assignment
    /// once.
    ///
    /// - Parameters:
    ///   - maxWait: the longest time to wait for an open transaction; nil for the reader's.
    ///   - each: called with a record, the offsets passed so far, and all offsets of the reading.
    /// - Returns: the offsets that an open transaction still hides; nil where everything was read.
    package func readVisible(
        _ partitions: [TopicPartition], within maxWait: Duration? = nil,
        _ each: (ConsumedRecord, Int, Int) async throws -> Void
    ) async throws -> HiddenOffsets? {
        try await readVisible(partitions, within: maxWait, on: 1, { _ in }) { record, _, done, total in
            try await each(record, done, total)
        }
    }

    /// The same for records that are worth to be read on several processors before they are taken.
    ///
    /// - Parameters:
    ///   - cores: the number of records that are read at once.
    ///   - read: reads a record; it must depend on that alone.
    ///   - each: called with each record, in their order, and with the part of it that was read.
    package func readVisible<Read: Sendable>(
        _ partitions: [TopicPartition], within maxWait: Duration? = nil, on cores: Int = Self.standardCores,
        _ read: @escaping @Sendable (ConsumedRecord) -> Read,
        _ each: (ConsumedRecord, Read, Int, Int) async throws -> Void
    ) async throws -> HiddenOffsets? {
        let meant = bounds.filter { partitions.contains($0.key) && !$0.value.isEmpty }
        guard !meant.isEmpty else { return nil }
        let starts = meant.map { PartitionOffset($0.key, offset: $0.value.lowerBound) }
        let reading = try KafkaConsumer(properties, reading: starts, logger: logger)
        let hidden = try await reading.whileOpen(closingWithin: Self.closing) { consumer in
            try await Self.take(meant, from: consumer, within: maxWait ?? self.maxWait, maxStall) { records, total in
                let results = await ParallelMap(records.count, chunks: cores) { read(records[$0].record) }
                for (place, taken) in records.enumerated() {
                    try await each(taken.record, results[place], taken.done, total)
                }
            }
        }
        guard let first = hidden.min(by: { $0.key.partition < $1.key.partition }) else { return nil }
        return HiddenOffsets(
            first.key, count: hidden.values.reduce(0) { $0 + $1.count },
            since: try await beginning(at: PartitionOffset(first.key, offset: first.value.lowerBound)),
            brokers: brokers)
    }

    /// Returns the time of the record at `place`, committed or not; nil where none arrives.
    private func beginning(at place: PartitionOffset) async throws -> UnixTime? {
        let reading = try KafkaConsumer(properties.readingUncommitted, reading: [], logger: logger)
        return await reading.whileOpen(closingWithin: Self.closing) { consumer in
            var time: UnixTime?
            try? await consumer.scan([place], within: .seconds(3)) { record in
                time = record.timestamp.map(UnixTime.init(milliseconds:))
                return false
            }
            return time
        }
    }

    /// A record that belongs to a reading, and how far that was with it.
    private struct Taken: Sendable {
        let record: ConsumedRecord
        let done: Int
    }

    private static func take(
        _ bounds: [TopicPartition: Range<Int64>], from consumer: KafkaConsumer, within maxWait: Duration,
        _ maxStall: Duration, _ each: ([Taken], Int) async throws -> Void
    ) async throws -> [TopicPartition: Range<Int64>] {
        var reading = TopicReading(bounds)
        var last = ContinuousClock.now
        var events = await consumer.events(limit: 1000, within: .seconds(1))
        while true {
            // A canceled task gets no event, and would ask the brokers again and again.
            try Task.checkCancellation()
            let before = reading.done
            let taken = try take(events, into: &reading)
            guard !reading.isDone else {
                try await each(taken, reading.total)
                return [:]
            }
            if reading.done == before, .now - last >= .milliseconds(900) {
                let hidden = try await hidden(of: reading, from: consumer, since: last)
                if let hidden, hidden.count == reading.unread.count {
                    if .now - last >= maxWait { return hidden }
                } else if .now - last >= maxStall, let place = reading.stall(besides: hidden ?? [:]) {
                    throw StalledReading(place: place, length: maxStall)
                }
            }
            // What comes next is copied out of the client while this is read.
            async let next = consumer.events(limit: 1000, within: .seconds(1))
            try await each(taken, reading.total)
            if reading.done > before { last = .now }
            events = await next
        }
    }

    /// - Throws: `KafkaError`, a fatal one.
    private static func take(
        _ events: [KafkaConsumer.Event], into reading: inout TopicReading
    ) throws -> [Taken] {
        var taken: [Taken] = []
        taken.reserveCapacity(events.count)
        for event in events {
            switch event {
            case .record(let record):
                guard reading.took(record.position) else { continue }
                taken.append(Taken(record: record, done: reading.done))
            case .endOfPartition(let partition, let offset): reading.ended(partition, at: offset)
            case .error(let error): if error.isFatal || error.batch != nil { throw error }
            case .rebalance: break
            }
        }
        return taken
    }

    /// The offsets that open transactions hide from `reading`, which has got on last at `last`; nil where brokers do
    /// not report them.
    private static func hidden(
        of reading: TopicReading, from consumer: KafkaConsumer, since last: ContinuousClock.Instant
    ) async throws -> [TopicPartition: Range<Int64>]? {
        do {
            let stable = try await consumer.bounds(of: reading.unread, within: .seconds(15))
            return reading.hidden(behind: stable.mapValues(\.upperBound))
        } catch {
            guard .now - last < silence else { throw error }
            return nil
        }
    }
}

extension ClientProperties {
    /// The same properties, for a client that also reads records that are not committed or were aborted.
    fileprivate var readingUncommitted: ClientProperties { merging(["isolation.level": "read_uncommitted"]) }
}

/// A reading in which nothing arrives of a partition whose records could be read.
package struct StalledReading: Error, CustomStringConvertible {
    let place: RecordPosition
    let length: Duration

    package var description: String {
        "nothing of \(TopicPartition(place)) arrived from offset \(place.offset) on within \(length.components.seconds) s: see whether the partition's leader works, then try again"
    }
}

package struct MissingTopic: Error, CustomStringConvertible {
    package let description: String

    init(_ topic: String) { description = "the topic \(topic) does not exist or may not be read" }
}

extension KafkaProperties {
    /// Returns the topics that the cluster shows to this account. Asking never creates one.
    func topicNames(logger: Logger) async throws -> Set<String> {
        let producer = try KafkaProducer(producer, logger: logger)
        return try await producer.whileOpen { Set(try await $0.topicNames(within: .seconds(15))) }
    }

    /// Returns the partitions of `topic`.
    func partitions(of topic: String, logger: Logger) async throws -> [TopicPartition] {
        let producer = try KafkaProducer(producer, logger: logger)
        let found = try await producer.whileOpen { try await $0.metadata(of: topic, within: .seconds(15)) }
        guard found.partitionCount > 0 else { throw MissingTopic(topic) }
        return (0..<found.partitionCount).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
    }
}

extension TopicReader {
    /// Returns the committed record at `offset` of `partition` in `topic`; nil where there is none.
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

extension TopicMarks {
    /// Reads the present ends of `topics`.
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
    /// The number of all offsets to read.
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

    /// A record was read.
    ///
    /// - Returns: whether it was there when the reading began.
    mutating func took(_ position: RecordPosition) -> Bool {
        guard let number = number(of: position), places[number].isOpen else { return false }
        // A record may come again behind one that was read.
        pass(number, to: max(places[number].position, position.nextOffset))
        return position.offset < places[number].bounds.upperBound
    }

    /// A partition has no more before `offset`. Its last offsets may be a transaction's marks, which no reader sees; where it goes on
    /// behind `offset`, an open transaction hides the rest.
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

    /// Returns the next position of the first partition that is not read and not among those that are `hidden`.
    func stall(besides hidden: [TopicPartition: Range<Int64>]) -> RecordPosition? {
        places.first { $0.isOpen && hidden[$0.partition] == nil }.map {
            RecordPosition(topic: $0.partition.topic, partition: $0.partition.partition, offset: $0.position)
        }
    }

    /// The offsets that open transactions hide where committed records can be read up to `stable`.
    func hidden(behind stable: [TopicPartition: Int64]) -> [TopicPartition: Range<Int64>] {
        places.reduce(into: [:]) { hidden, place in
            guard place.isOpen, let end = stable[place.partition], end < place.bounds.upperBound else { return }
            hidden[place.partition] = max(end, place.position)..<place.bounds.upperBound
        }
    }
}

/// Offsets of a topic that nobody can read yet: they are behind an open transaction of any producer.
package struct HiddenOffsets: Error, Sendable, Equatable, CustomStringConvertible {
    package let partition: TopicPartition
    package private(set) var count: Int
    /// The time of the transaction's first record, by its producer's clock; nil where it is unknown.
    package let since: UnixTime?
    /// The brokers that were asked; nil where they are unknown.
    private let brokers: String?

    /// `count` offsets of the topic of `partition`.
    package init(_ partition: TopicPartition, count: Int, since: UnixTime?, brokers: String? = nil) {
        self.brokers = brokers
        self.partition = partition
        self.count = count
        self.since = since
    }

    /// Adds the hidden offsets of further partitions of the topic.
    mutating func add(_ other: HiddenOffsets) { count += other.count }

    /// The unknown part, in a line.
    package var fact: String {
        let lie = count.of("offset of \(partition.topic) lies", "offsets of \(partition.topic) lie")
        let time = since.map { " (since \($0))" } ?? ""
        return "\(lie) behind an open transaction\(time): what they hold is unknown"
    }

    /// The way on, in a line.
    package var remedy: String {
        "see that the workers run (\(RemintCommand("status"))) and wait, or find its producer with kafka-transactions.sh --bootstrap-server \(RemintCommand.quoted(brokers ?? RemintCommand.invocation.brokers ?? "HOST:PORT")) describe-producers --topic \(partition.topic) --partition \(partition.partition), then try again"
    }

    package var description: String { "\(fact); \(remedy)" }
}
