public import AdapterKit

/// The finished inputs of the assigned partitions, and the offsets that may be committed.
///
/// Only the end of an unbroken run may be committed: an offset means that everything before it is finished.
public struct PartitionProgress: Sendable {
    private struct Input {
        let offset: Int64
        let since: UnixTime?
    }

    private struct Run {
        let partition: TopicPartition
        /// The consumed inputs, in order. Those before `head` are finished and counted in `next`.
        var taken: [Input] = []
        var head = 0
        var finished: Set<Int64> = []
        /// The next record to read, after everything before it is finished.
        var next: Int64?
        /// The end up to which the partition was read; nil before it was.
        var end: Int64?
        var committed: Int64?

        /// The next record to read: behind the end where everything was read and is finished, because no record is between.
        var reached: Int64? {
            guard let end, head == taken.count else { return next }
            return max(next ?? end, end)
        }

        mutating func finish(_ offset: Int64) {
            if head < taken.count, taken[head].offset == offset {
                // In order, like nearly all inputs.
                next = RecordPosition.next(after: offset)
                head += 1
            } else {
                guard isOpen(offset) else { return }
                finished.insert(offset)
            }
            while !finished.isEmpty, head < taken.count, finished.remove(taken[head].offset) != nil {
                next = RecordPosition.next(after: taken[head].offset)
                head += 1
            }
            guard head > 1024, head * 2 > taken.count else { return }
            taken.removeFirst(head)
            head = 0
        }

        /// Returns whether `offset` was consumed and is not counted yet. Searches by halves, because offsets only grow.
        private func isOpen(_ offset: Int64) -> Bool {
            var low = head
            var high = taken.count
            while low < high {
                let middle = low + (high - low) / 2
                if taken[middle].offset < offset { low = middle + 1 } else { high = middle }
            }
            return low < taken.count && taken[low].offset == offset
        }
    }

    private var runs: [Run] = []
    private var places: [TopicPartition: Int] = [:]
    /// The place of the last look-up: records come partition by partition.
    private var lastPlace = 0

    /// Creates progress without partitions.
    public init() {}

    /// Records that `partition` is read from `offset` on, which the group has already.
    public mutating func began(_ partition: TopicPartition, at offset: Int64) {
        guard places[partition] == nil else { return }
        let place = add(partition)
        runs[place].next = offset
        runs[place].committed = offset
    }

    /// Returns the next offset of `partition` that is not consumed; nil for a partition that never began.
    func frontier(of partition: TopicPartition) -> Int64? {
        guard let place = places[partition] else { return nil }
        let run = runs[place]
        return run.taken.last.map { RecordPosition.next(after: $0.offset) } ?? run.next
    }

    /// Records that `partition` was read up to `end`. Behind its last record there may be marks of transactions, which no reader sees
    /// and which count as waiting records until the offset behind them is committed. Ignores a partition that never began.
    public mutating func reached(_ end: Int64, of partition: TopicPartition) {
        guard let place = places[partition] else { return }
        runs[place].end = max(end, runs[place].end ?? end)
    }

    /// Records a consumed input. The inputs of a partition arrive in the order of their offsets.
    public mutating func taken(_ origin: RecordPosition, since moment: UnixTime? = nil) {
        let place = place(of: origin) ?? add(TopicPartition(origin))
        runs[place].taken.append(Input(offset: origin.offset, since: moment))
    }

    /// Records a finished input, whose result is committed. Ignores an input that was never consumed.
    public mutating func finished(_ origin: RecordPosition) {
        if let place = place(of: origin) { runs[place].finish(origin.offset) }
    }

    private mutating func place(of origin: RecordPosition) -> Int? {
        if runs.indices.contains(lastPlace), runs[lastPlace].partition.partition == origin.partition,
            runs[lastPlace].partition.topic == origin.topic
        {
            return lastPlace
        }
        guard let place = places[TopicPartition(origin)] else { return nil }
        lastPlace = place
        return place
    }

    private mutating func add(_ partition: TopicPartition) -> Int {
        runs.append(Run(partition: partition))
        places[partition] = runs.count - 1
        return runs.count - 1
    }

    /// The offsets to commit, each the next record to read, of the partitions that advanced since the last commit.
    public var committable: [TopicPartition: Int64] { offsets { $0.reached == $0.committed ? nil : $0.reached } }

    var isCommittable: Bool { runs.contains { $0.reached != $0.committed } }

    /// Records that `offsets` were committed.
    public mutating func committed(_ offsets: [TopicPartition: Int64]) {
        for (partition, offset) in offsets {
            if let place = places[partition] { runs[place].committed = offset }
        }
    }

    public var hasOpenInputs: Bool { runs.contains { $0.head < $0.taken.count } }

    /// The time since which the oldest unfinished input waits, judged by the first one of each partition; nil if there is none,
    /// or none with a time.
    public var oldest: UnixTime? {
        runs.compactMap { $0.head < $0.taken.count ? $0.taken[$0.head].since : nil }.min()
    }

    /// The next unfinished record of each partition: the worker's position, regardless of the records consumed ahead.
    public var positions: [TopicPartition: Int64] { offsets { $0.reached ?? $0.taken.first?.offset } }

    private func offsets(_ offset: (Run) -> Int64?) -> [TopicPartition: Int64] {
        Dictionary(runs.compactMap { run in offset(run).map { (run.partition, $0) } }) { first, _ in first }
    }

    /// Drops partitions that now belong to another member: nothing of them is committed any more.
    public mutating func dropped(_ partitions: some Sequence<TopicPartition>) {
        let dropped = Set(partitions)
        runs.removeAll { dropped.contains($0.partition) }
        places = Dictionary(runs.enumerated().map { ($1.partition, $0) }) { first, _ in first }
    }
}
