package import AdapterKit
import Foundation
package import Kafka
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
    /// - Throws: `KafkaError`, or `MissingTopic`.
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
        let reading = try KafkaConsumer(properties.readingUncommitted, reading: [place], logger: logger)
        return await reading.whileOpen(closingWithin: Self.closing) { consumer in
            let end = ContinuousClock.now + .seconds(3)
            while .now < end, !Task.isCancelled {
                for event in await consumer.events(limit: 1, within: .seconds(1)) {
                    if case .record(let record) = event { return record.timestamp.map(UnixTime.init(milliseconds:)) }
                }
            }
            return nil
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

/// A topic that is not there.
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
        return try await producer.whileOpen { Set(try await $0.topicNames(within: .seconds(15))) }
    }

    /// Returns the partitions of `topic`.
    ///
    /// - Throws: `KafkaError`, or `MissingTopic`.
    func partitions(of topic: String, logger: Logger) async throws -> [TopicPartition] {
        let producer = try KafkaProducer(producer, logger: logger)
        let found = try await producer.whileOpen { try await $0.metadata(of: topic, within: .seconds(15)) }
        guard found.partitionCount > 0 else { throw MissingTopic(topic) }
        return (0..<found.partitionCount).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
    }
}
