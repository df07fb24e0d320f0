package import AdapterKit
import Kafka
package import Logging
package import Pipeline

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
