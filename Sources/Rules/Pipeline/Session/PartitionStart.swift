public import AdapterKit

/// The offset at which a worker begins to read an assigned partition, and the reason.
///
/// `auto.offset.reset` has one answer for four cases. Here each case has its own. A group without an offset reads
/// everything that is retained. Records that were deleted before they were read are counted. For an offset beyond the
/// log's end, reading continues at the end, because the retained records were answered already. A topic that was
/// created again is read from its beginning, because none of its records was answered.
public struct PartitionStart: Sendable, Equatable {
    /// The known facts about a partition.
    public struct Facts: Sendable, Equatable {
        /// The log's first offset, and the offset that the next record will get.
        public var bounds: Range<Int64>
        /// The log's first readable record; nil if there is none.
        public var first: LogMark?
        /// The group's committed offset; nil for none.
        public var committed: Int64?
        /// The log's first record at the time of the commit; nil if it was not committed with the offset.
        public var mark: LogMark?
        public var committedAt: UnixTime?
        /// The partition's state that this process remembers; nil if the process never had the partition.
        public var former: Former?

        /// Creates the facts of a log with `bounds`.
        public init(
            bounds: Range<Int64>, first: LogMark? = nil, committed: Int64? = nil, mark: LogMark? = nil,
            committedAt: UnixTime? = nil, former: Former? = nil
        ) {
            self.bounds = bounds
            self.first = first
            self.committed = committed
            self.mark = mark
            self.committedAt = committedAt
            self.former = former
        }

        /// Whether this process read another log under the same name before. Brokers delete a group's offsets with the
        /// topic, so that only the process itself may know.
        var isOtherThanFormer: Bool {
            guard let former else { return false }
            if let mark = former.mark, let first {
                let end = max(former.committed ?? 0, RecordPosition.next(after: mark.offset))
                if first.offset < end, mark.isOfAnotherLog(than: first, seenUntil: former.seenUntil) { return true }
                // The same log, truncated at its end.
                if first == mark { return false }
            }
            return former.committed.map { $0 > bounds.upperBound } ?? false
        }
    }

    /// The partition's state that this process remembers from its last assignment.
    public struct Former: Sendable, Equatable {
        /// The offset that this process committed last; nil for none.
        public var committed: Int64?
        /// The log's first record at that time; nil if it is unknown.
        public var mark: LogMark?
        /// The latest time at which the log was known to begin with `mark`.
        public var seenUntil: UnixTime?

        /// Creates the state of a partition with the last commit `committed`, in the log that began with `mark` until
        /// `seenUntil`.
        public init(committed: Int64? = nil, mark: LogMark? = nil, seenUntil: UnixTime? = nil) {
            self.committed = committed
            self.mark = mark
            self.seenUntil = seenUntil
        }
    }

    public enum Reason: Sendable, Equatable {
        case fresh
        case resumed
        /// This many offsets before the log's start were never read.
        case lost(Int64)
        case beyondEnd
        case replaced
    }

    public let offset: Int64
    public let reason: Reason
    /// Whether this process's earlier commits no longer apply: the log is another one, or ends earlier.
    public let isFormerOver: Bool

    /// Decides the start that follows from `facts`.
    public init(_ facts: Facts) {
        (offset, reason) = Self.decision(facts)
        isFormerOver = reason == .replaced || reason == .beyondEnd || facts.isOtherThanFormer
    }

    private static func decision(_ facts: Facts) -> (Int64, Reason) {
        let bounds = facts.bounds
        guard let committed = facts.committed else {
            return (bounds.lowerBound, facts.isOtherThanFormer ? .replaced : .fresh)
        }
        if let mark = facts.mark, let first = facts.first, first.offset < max(committed, mark.offset + 1),
            mark.isOfAnotherLog(than: first, seenUntil: facts.committedAt)
        {
            return (bounds.lowerBound, .replaced)
        }
        if committed < bounds.lowerBound {
            return (bounds.lowerBound, .lost(bounds.lowerBound - max(0, committed)))
        }
        guard committed > bounds.upperBound else { return (committed, .resumed) }
        // No worker answered records that were not readable yet.
        return (facts.first == nil ? bounds.lowerBound : bounds.upperBound, .beyondEnd)
    }

    /// Whether the worker must commit the decision at once. Otherwise, until the next commit, another start would find
    /// and report the same, or see a log that has grown and skip its new records.
    public var isToBeCommitted: Bool {
        switch reason {
        case .fresh, .resumed: false
        case .lost, .beyondEnd, .replaced: true
        }
    }
}

/// The first readable record of a partition's log, which distinguishes one log from another.
///
/// A topic that was deleted and created again has the same name and partitions, and other records. librdkafka 2.0.2
/// reports neither topic ids nor the epochs of records, so the first record identifies the log. Retention only moves it
/// forward.
public struct LogMark: Sendable, Hashable {
    public let offset: Int64
    /// The record's timestamp, in milliseconds since 1970; nil where it has none.
    public let timestamp: Int64?

    /// Creates the mark of the record at `offset` with `timestamp`.
    public init(offset: Int64, timestamp: Int64?) {
        self.offset = offset
        self.timestamp = timestamp
    }

    /// Returns whether a log that now begins with `first` is another log than the one that began with this record.
    ///
    /// - Parameter time: the latest time at which the log was known to be this one.
    public func isOfAnotherLog(than first: LogMark, seenUntil time: UnixTime?) -> Bool {
        if first.offset < offset { return true }
        if first.offset == offset { return first.timestamp != timestamp }
        // Retention deleted the marked record, or the new log already lost its beginning. Records of a new log are
        // newer.
        guard let time, let timestamp = first.timestamp else { return false }
        return timestamp > time.milliseconds
    }
}

/// The marks of the partitions that this worker reads, by which it detects a replaced log.
public struct LogMarks: Sendable {
    private var marks: [TopicPartition: LogMark] = [:]
    /// Partitions without a known first record: the next consumed record becomes the mark.
    private var open: Set<TopicPartition> = []
    /// The marks of partitions that this worker gave up. Brokers delete a group's offsets with the topic.
    private var former: [TopicPartition: LogMark] = [:]

    /// Creates marks without partitions.
    public init() {}

    public var all: [TopicPartition: LogMark] { marks }

    /// Begins to read `partition`, whose log begins with `first`; nil if the log has no readable record yet.
    public mutating func begin(_ partition: TopicPartition, first: LogMark?) {
        marks[partition] = first
        former[partition] = nil
        if first == nil { open.insert(partition) } else { open.remove(partition) }
    }

    /// Moves the marks of partitions that now belong to another member to the former ones.
    public mutating func drop(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions {
            former[partition] = marks.removeValue(forKey: partition) ?? former[partition]
            open.remove(partition)
        }
    }

    /// Returns the mark that `partition` had when this worker gave it up.
    public func former(_ partition: TopicPartition) -> LogMark? { former[partition] }

    /// Records the mark of each partition that has none: its first record in `records`.
    public mutating func took(_ records: [InputRecord]) {
        guard !open.isEmpty else { return }
        for record in records {
            guard open.remove(TopicPartition(record.origin)) != nil else { continue }
            let mark = LogMark(offset: record.origin.offset, timestamp: record.timestamp?.milliseconds)
            marks[TopicPartition(record.origin)] = mark
        }
    }

    /// Compares the marks with the current first records of the logs, and moves the marks with retention.
    ///
    /// - Parameter time: the time of the last comparison.
    /// - Returns: the partitions whose log was replaced; their marks do not change.
    public mutating func replaced(_ firsts: [TopicPartition: LogMark], seenUntil time: UnixTime) -> [TopicPartition] {
        var replaced: [TopicPartition] = []
        for (partition, first) in firsts {
            guard let mark = marks[partition] else { continue }
            if mark.isOfAnotherLog(than: first, seenUntil: time) {
                replaced.append(partition)
            } else {
                marks[partition] = first
            }
        }
        return replaced.sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
    }
}
