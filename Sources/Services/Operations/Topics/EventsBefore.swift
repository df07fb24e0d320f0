import Kafka
import Keyring
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// The events that were on the workers' topics at a moment, to count those without an outcome.
///
/// A worker that stands still between consuming an event and committing its outcome knows only the key rings of that
/// time. Once the group has passed the event, either its outcome is published, or the transaction of that worker can no
/// longer be committed, because another worker has its partition (KIP-447). Events of retry tiers are not counted: they
/// may wait for hours before a worker takes them.
package struct EventsBefore {
    /// The lanes whose events workers take as soon as they come.
    private static let lanes = [Lane.live, .bulk]
    /// The largest number of offsets whose records are counted one by one. An offset may be a transaction's mark, which
    /// no worker passes before the next record arrives.
    private static let countedOneByOne: Int64 = 1000

    let marks: TopicMarks
    /// The names of the topics that brokers do not show to this account: whether events are on them is unknown.
    let unseen: [String]

    /// Reads the present events.
    ///
    /// - Parameter lanes: some of the live and the bulk lane.
    /// - Throws: `KafkaError`.
    init(
        on lanes: [Lane] = Self.lanes, _ configuration: Configuration, brokers: String, logger: Logger
    ) async throws {
        let shown = try await KafkaProperties(configuration, bootstrapServers: brokers).topicNames(logger: logger)
        let (seen, unseen) = lanes.flatMap(configuration.topics(of:)).reduce(into: ([String](), [String]())) {
            if shown.contains($1) { $0.0.append($1) } else { $0.1.append($1) }
        }
        marks = try await TopicMarks.read(seen, configuration, brokers: brokers, logger: logger)
        self.unseen = unseen.sorted()
    }

    /// The events of `marks`.
    init(marks: TopicMarks, unseen: [String] = []) { (self.marks, self.unseen) = (marks, unseen) }

    /// Returns the number of the events that have no outcome yet.
    ///
    /// - Throws: `KafkaError`, or `MissingTopic` where a topic was deleted meanwhile.
    func unanswered(_ configuration: Configuration, brokers: String, logger: Logger) async throws -> Int {
        var count = 0
        for lane in Self.lanes {
            let topics = Set(configuration.topics(of: lane))
            let ends = marks.offsets.filter { topics.contains($0.partition.topic) }
            let properties = KafkaProperties(configuration, bootstrapServers: brokers).consumer(of: lane)
            for (partition, open) in try await gaps(ends, properties, logger) {
                count +=
                    open.count > Self.countedOneByOne
                    ? open.count : try await records(open, of: partition, configuration, brokers, logger)
            }
        }
        return count
    }

    /// Returns the offsets of each partition before its mark and behind those that the group committed.
    private func gaps(
        _ ends: [PartitionOffset], _ properties: ClientProperties, _ logger: Logger
    ) async throws -> [TopicPartition: Range<Int64>] {
        guard !ends.isEmpty else { return [:] }
        let consumer = try KafkaConsumer(properties, reading: [], logger: logger)
        return try await consumer.whileOpen { consumer in
            let partitions = ends.map(\.partition)
            let committed = try await consumer.committed(partitions, within: .seconds(10))
            let bounds = try await consumer.bounds(of: partitions, within: .seconds(10))
            // The lane's client knows only the end of the committed records: behind it, an open transaction may hide
            // earlier events.
            return ends.reduce(into: [:]) { gaps, end in
                let start = max(bounds[end.partition]?.lowerBound ?? 0, committed[end.partition] ?? 0)
                if start < end.offset { gaps[end.partition] = start..<end.offset }
            }
        }
    }

    private func records(
        _ offsets: Range<Int64>, of partition: TopicPartition, _ configuration: Configuration, _ brokers: String,
        _ logger: Logger
    ) async throws -> Int {
        let place = Int(partition.partition)
        let starts = [Int64](repeating: 0, count: place) + [offsets.lowerBound]
        let reader = try await TopicReader(
            partition.topic, from: starts, until: offsets.upperBound, configuration, brokers: brokers, maxWait: .zero,
            logger: logger)
        var count = 0
        let hidden = try await reader.readVisible([partition]) { _, _, _ in count += 1 }
        return count + (hidden?.count ?? 0)
    }
}
