import Pipeline

/// What this process committed, to notice a group that forgot it.
///
/// A partition that comes back at an offset before it was reset by an operator, or by a broker that lost commits; either way
/// events are answered twice, which must not pass unsaid.
struct CommittedOffsets {
    /// A partition that begins before what was committed.
    struct OffsetRegression: Equatable {
        let partition: TopicPartition
        let committed: Int64
        let offset: Int64
    }

    private var next: [TopicPartition: Int64] = [:]
    /// Assigned, and no record of it taken yet.
    private var expected: Set<TopicPartition> = []

    /// `offsets` were committed, each the next record to read.
    mutating func committed(_ offsets: [TopicPartition: Int64]) { next.merge(offsets) { max($0, $1) } }

    /// `partitions` are assigned: the first record of each is looked at.
    mutating func assigned(_ partitions: some Sequence<TopicPartition>) {
        expected.formUnion(partitions)
    }

    /// The log of `partition` is another one, or ends earlier: what was committed for it is no measure any more.
    mutating func forget(_ partition: TopicPartition) { next[partition] = nil }

    /// The partitions among `records`, taken in order, that begin before what was committed.
    mutating func setbacks(in records: [InputRecord]) -> [OffsetRegression] {
        guard !expected.isEmpty else { return [] }
        return records.compactMap { record in
            let partition = TopicPartition(record.origin)
            guard expected.remove(partition) != nil, let committed = next[partition] else { return nil }
            guard record.origin.offset < committed else { return nil }
            next[partition] = record.origin.offset
            return OffsetRegression(partition: partition, committed: committed, offset: record.origin.offset)
        }
    }
}
