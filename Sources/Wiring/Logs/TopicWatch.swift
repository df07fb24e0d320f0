package import AdapterKit
import Kafka
package import Logging
package import Pipeline

/// A look now and then whether topics that are followed were created again under their names.
///
/// A reader of no group goes on at its offset. Where the new log has grown to it by then, nobody tells the reader, and it passes over what
/// came before.
package struct TopicWatch: Sendable {
    /// Between two looks.
    package static let interval = Duration.seconds(30)

    private let logs: PartitionLogs
    private let now: @Sendable () -> UnixTime
    private var marks = LogMarks()
    /// By topic, the moment of the last look that was answered.
    private var lastLooks: [String: UnixTime] = [:]

    /// A watch that knows no topic yet. `group` names the fleet to the brokers.
    package init(
        _ properties: KafkaProperties, group: String, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        logs = PartitionLogs(properties, group: group, logger: logger)
        self.now = now
    }

    /// Notes what a reader that read `topic` at `time` found first in its partitions.
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
        // What is empty now is read from its start, and known once it has a record.
        if isReplaced { marks.drop(marks.all.keys.filter { $0.topic == topic }) }
        for (partition, first) in firsts where marks.all[partition] == nil { marks.begin(partition, first: first) }
        return isReplaced
    }
}
