package import AdapterKit
import Formats
package import Kafka
package import Logging
package import Pipeline
import WorkerConfiguration

/// Checks now and then whether followed topics were created again under their names.
///
/// A reader without a group continues at its offset. If the new log has grown to that offset by then, the reader gets
/// no error, and it skips the records before.
package struct TopicWatch: Sendable {
    /// Between two looks.
    package static let interval = Duration.seconds(30)

    private let logs: PartitionLogs
    private let now: @Sendable () -> UnixTime
    private var marks = LogMarks()
    /// The moment of the last answered check, by topic.
    private var lastLooks: [String: UnixTime] = [:]

    /// A watch that knows no topic yet. `group` names the fleet to the brokers.
    package init(
        _ properties: KafkaProperties, group: String, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        logs = PartitionLogs(properties, group: group, logger: logger)
        self.now = now
    }

    /// Notes the first records that a reader of `topic` found in its partitions at `time`.
    package mutating func begin(_ topic: String, _ firsts: [TopicPartition: LogMark], at time: UnixTime) {
        for (partition, first) in firsts { marks.begin(partition, first: first) }
        lastLooks[topic] = time
    }

    /// Compares the first records of `topics` with those of the last look. A topic that cannot be looked at now is looked at next time.
    ///
    /// - Returns: the topics that were created again, in the order of their names.
    package mutating func look(at topics: [String]) async -> [String] {
        var replaced: [String] = []
        for topic in Set(topics).sorted() {
            let time = now()
            guard let firsts = try? await logs.firsts(of: topic) else { continue }
            if isReplaced(topic, firsts, at: time) { replaced.append(topic) }
            lastLooks[topic] = time
        }
        return replaced
    }

    mutating func isReplaced(_ topic: String, _ firsts: [TopicPartition: LogMark], at time: UnixTime) -> Bool {
        let isReplaced = !marks.replaced(firsts, seenUntil: lastLooks[topic] ?? time).isEmpty
        // A partition that is empty now is read from its start, and known once it has a record.
        if isReplaced { marks.drop(marks.all.keys.filter { $0.topic == topic }) }
        for (partition, first) in firsts where marks.all[partition] == nil { marks.begin(partition, first: first) }
        return isReplaced
    }
}

/// Reads the bounds and first readable records of partitions' logs from the brokers.
package struct PartitionLogs: Sendable {
    /// A partition's log at one moment.
    package struct View: Sendable, Equatable {
        /// The first offset, and the offset that the next record will get.
        package let bounds: Range<Int64>
        /// The first readable record; nil for none.
        package let first: LogMark?
    }

    /// The time for one answer, and for the first records of all partitions.
    package static let timeout = Duration.seconds(5)

    private let properties: ClientProperties
    private let logger: Logger

    package init(_ properties: KafkaProperties, group: String, logger: Logger) {
        // One record of each partition is wanted, and brokers return a batch at the least. Room for all: librdkafka before 2.2.0 whose
        // queue is full looks again a second later, and some partitions may be missing in its first question.
        self.properties = properties.reader(group: "\(group)-logs").merging([
            "fetch.message.max.bytes": "16384", "queued.min.messages": "100000", "queued.max.messages.kbytes": "65536",
        ])
        self.logger = logger
    }

    /// Reads the bounds and the first records of `partitions`.
    ///
    /// - Parameter consumer: asked for the bounds.
    /// - Throws: `KafkaError` where that takes too long, for any of them.
    package func views(
        of partitions: [TopicPartition], asking consumer: KafkaConsumer
    ) async throws(KafkaError) -> [TopicPartition: View] {
        let bounds = try await consumer.bounds(of: partitions, within: Self.timeout)
        guard bounds.count == Set(partitions).count else {
            throw .overdue("asking for the bounds of all assigned partitions")
        }
        let firsts = try await firsts(of: bounds.filter { !$0.value.isEmpty }.mapValues(\.lowerBound))
        return Dictionary(uniqueKeysWithValues: bounds.map { ($0, View(bounds: $1, first: firsts[$0])) })
    }

    /// Reads the first record of each partition of `topic`; one whose records are not visible yet is left out.
    ///
    /// - Throws: `KafkaError` where that takes too long, for any of them.
    package func firsts(of topic: String) async throws(KafkaError) -> [TopicPartition: LogMark] {
        let reader = try KafkaConsumer(properties, reading: [], logger: logger)
        return try await reader.whileOpen { reader throws(KafkaError) in
            let count = try await reader.metadata(of: topic, within: Self.timeout).partitionCount
            let partitions = (0..<count).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
            let bounds = try await reader.bounds(of: partitions, within: Self.timeout).filter { !$0.value.isEmpty }
            return bounds.isEmpty ? [:] : try await firsts(bounds.mapValues(\.lowerBound), reader)
        }
    }

    /// Reads the first record of each partition, from its log's first offset on; one whose records are not visible yet is left out.
    ///
    /// - Throws: `KafkaError` where that takes too long, for any of them.
    package func firsts(of starts: [TopicPartition: Int64]) async throws(KafkaError) -> [TopicPartition: LogMark] {
        guard !starts.isEmpty else { return [:] }
        let reader = try KafkaConsumer(properties, reading: [], logger: logger)
        // Partitions wait for the answer, and not for the client's end.
        return try await reader.whileOpen(closingWithin: .zero) { reader throws(KafkaError) in
            try await firsts(starts, reader)
        }
    }

    private func firsts(
        _ starts: [TopicPartition: Int64], _ reader: KafkaConsumer
    ) async throws(KafkaError) -> [TopicPartition: LogMark] {
        // A reader that knows where the partitions are does not look for them twice.
        for topic in Set(starts.keys.map(\.topic)) { _ = try await reader.metadata(of: topic, within: Self.timeout) }
        var found: [TopicPartition: LogMark] = [:]
        let places = starts.map { PartitionOffset($0, offset: $1) }
        // A log that begins with a batch that cannot be unpacked has no readable first record.
        try await reader.scan(places, within: Self.timeout, passesBatches: true) { record in
            found[TopicPartition(record.position)] = LogMark(record)
            return false
        }
        return found
    }
}

extension LogMark {
    /// `record` as a mark. Its time is in the pipeline's form, so that marks of both compare.
    package init(_ record: ConsumedRecord) {
        self.init(
            offset: record.position.offset,
            timestamp: record.timestamp.map { UnixTime(milliseconds: $0).milliseconds })
    }
}
