package import AdapterKit
import Formats
package import Kafka
import Keyring

/// Offsets of a topic that nobody can read yet: they are behind an open transaction of any producer.
package struct HiddenOffsets: Error, Sendable, Equatable, CustomStringConvertible {
    /// The first partition with such offsets.
    package let partition: TopicPartition
    /// The number of these offsets, in all partitions.
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
