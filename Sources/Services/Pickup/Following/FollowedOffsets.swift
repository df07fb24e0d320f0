import Kafka

/// The places up to which a follower has read its partitions. They outlive a reader: the next one continues there.
struct FollowedOffsets {
    /// The next offset of each partition that is or was followed.
    private(set) var next: [TopicPartition: Int64] = [:]
    /// The partitions that continue where reading stopped, and whose end is not reached yet.
    private(set) var behind: Set<TopicPartition> = []
    /// The number of partitions of a topic when it was first seen: later ones are read from their first record.
    private(set) var counts: [String: Int] = [:]
    /// The topics that were created again, and must be read from their start.
    private var replaced: Set<String> = []

    /// Notes `topics` as they are when they are first seen.
    mutating func saw(_ topics: [TopicMetadata]) {
        for topic in topics where counts[topic.name] == nil { counts[topic.name] = topic.partitionCount }
    }

    /// Notes that reading begins at `starts`. A partition of `tokens` that was followed before may be behind.
    mutating func begin(_ starts: [PartitionOffset], of tokens: String) {
        for start in starts {
            if next[start.partition] != nil, start.partition.topic == tokens { behind.insert(start.partition) }
            next[start.partition] = start.offset
        }
    }

    /// Notes that reading continues at `offset` of `partition`.
    mutating func reached(_ offset: Int64, of partition: TopicPartition) { next[partition] = offset }

    /// Notes that the end of `partition` was reached.
    ///
    /// - Returns: whether the partition was behind.
    mutating func caughtUp(_ partition: TopicPartition) -> Bool { behind.remove(partition) != nil }

    /// Notes that `topics` were created again.
    mutating func replace(_ topics: [String]) { replaced.formUnion(topics) }

    /// Returns whether a reader must begin again, at the start of topics that were created again.
    mutating func takeReplaced() -> Bool {
        let topics = replaced
        replaced = []
        for partition in next.keys where topics.contains(partition.topic) { next[partition] = 0 }
        return !topics.isEmpty
    }
}
