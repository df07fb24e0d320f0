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
        /// The time of that commit.
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

    /// The reason for a partition's start offset.
    public enum Reason: Sendable, Equatable {
        /// The group has committed nothing.
        case fresh
        /// The group continues at its offset.
        case resumed
        /// This many offsets before the log's start were never read.
        case lost(Int64)
        /// The log ends before the committed offset.
        case beyondEnd
        /// The topic was deleted and created again.
        case replaced
    }

    /// The next record to read.
    public let offset: Int64
    /// The reason for the offset.
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
