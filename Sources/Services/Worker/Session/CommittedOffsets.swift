import AdapterKit
import Pipeline

/// The offsets that this process committed, to notice a group that forgot them.
///
/// A partition that returns at a lower offset was reset by an operator, or by a broker that lost commits. Either way
/// events are answered twice, and the worker must report it.
struct CommittedOffsets {
    /// A partition that begins before its committed offset.
    struct OffsetRegression: Equatable {
        let partition: TopicPartition
        let committed: Int64
        let offset: Int64
    }

    /// The next record to read, and the log that it belongs to.
    private struct Commit {
        var next: Int64
        var mark: LogMark?
        var at: UnixTime
    }

    private var commits: [TopicPartition: Commit] = [:]
    /// The assigned partitions of which no record was taken yet.
    private var expected: Set<TopicPartition> = []

    /// Notes that `offsets` were committed at `time`, each the next record to read, of logs that began with `marks`.
    mutating func committed(
        _ offsets: [TopicPartition: Int64], _ marks: [TopicPartition: LogMark] = [:], at time: UnixTime
    ) {
        for (partition, offset) in offsets {
            let next = max(commits[partition]?.next ?? offset, offset)
            commits[partition] = Commit(next: next, mark: marks[partition], at: time)
        }
    }

    /// Returns the state of `partition` when this process last had it.
    ///
    /// - Parameters:
    ///   - mark: its log's first record, where that was seen later than committed.
    ///   - time: until when.
    func former(_ partition: TopicPartition, _ mark: LogMark?, seenUntil time: UnixTime?) -> PartitionStart.Former? {
        let commit = commits[partition]
        guard commit != nil || mark != nil else { return nil }
        return PartitionStart.Former(
            committed: commit?.next, mark: mark ?? commit?.mark,
            seenUntil: mark == nil ? commit?.at : time ?? commit?.at)
    }

    /// Notes that `partitions` are assigned, so that the first record of each is checked.
    mutating func assigned(_ partitions: some Sequence<TopicPartition>) {
        expected.formUnion(partitions)
    }

    /// Forgets the commits of `partition`, whose log is another one or ends earlier.
    mutating func forget(_ partition: TopicPartition) { commits[partition] = nil }

    /// Returns the partitions among `records`, taken in order, that begin before their committed offset.
    mutating func regressions(in records: [InputRecord]) -> [OffsetRegression] {
        guard !expected.isEmpty else { return [] }
        return records.compactMap { record in
            let partition = TopicPartition(record.origin)
            guard expected.remove(partition) != nil, let committed = commits[partition]?.next else { return nil }
            guard record.origin.offset < committed else { return nil }
            commits[partition]?.next = record.origin.offset
            return OffsetRegression(partition: partition, committed: committed, offset: record.origin.offset)
        }
    }
}
