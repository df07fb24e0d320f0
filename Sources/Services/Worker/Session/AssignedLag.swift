import Kafka

/// The number of records that wait in the assigned partitions, from their assignment on: before a first fetch, it is the
/// difference between the start and the end of each partition at that time.
struct AssignedLag {
    private var begun: [TopicPartition: Range<Int64>] = [:]

    /// Notes that `partition` is assigned.
    ///
    /// - Parameters:
    ///   - start: the offset at which the worker begins.
    ///   - end: the offset that the partition's next record gets.
    mutating func begin(_ partition: TopicPartition, at start: Int64, end: Int64) {
        begun[partition] = start..<max(start, end)
    }

    /// Notes that `partitions` are no longer assigned.
    mutating func drop(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions { begun[partition] = nil }
    }

    /// Returns the number of records that the worker has not finished, for each of `partitions`.
    ///
    /// - Parameters:
    ///   - ends: the ends of the partitions that the last fetch learned.
    ///   - positions: the next unfinished record of each partition that returned a record.
    func records(
        of partitions: Set<TopicPartition>, ends: [TopicPartition: Int64], positions: [TopicPartition: Int64]
    ) -> [TopicPartition: Int64] {
        partitions.reduce(into: [:]) { records, partition in
            let start = begun[partition]
            let position = positions[partition] ?? start?.lowerBound
            let end = ends[partition] ?? start?.upperBound
            records[partition] = if let position, let end { max(0, end - position) } else { 0 }
        }
    }
}
