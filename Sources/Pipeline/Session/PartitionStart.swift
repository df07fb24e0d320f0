public import AdapterKit

/// The offset from which a worker reads a partition that it was assigned, and the reason.
///
/// `auto.offset.reset` knows one answer for four questions. Here each has its own: a group without an offset reads everything that is
/// retained; records that were deleted before they were read are counted; an offset beyond the log's end goes on at the end, for what is
/// retained was answered already; a topic that was created again is read from its beginning, for nothing of it was answered.
public struct PartitionStart: Sendable, Equatable {
    /// The facts that are known of a partition.
    public struct Facts: Sendable, Equatable {
        /// The log's first offset, and the offset that the next record will get.
        public var bounds: Range<Int64>
        /// The log's first readable record; nil where there is none.
        public var first: LogMark?
        /// The group's committed offset; nil for none.
        public var committed: Int64?
        /// The log's first record when the offset was committed; nil where the offset does not tell.
        public var mark: LogMark?
        /// The time of that commit.
        public var committedAt: UnixTime?
        /// The state of the partition that this process remembers; nil where it never had the partition.
        public var former: Former?

        /// A log of `bounds`, of which the group has committed nothing.
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

        /// Whether the log that this process read under the name was another one. Brokers forget a group's offsets with the topic, so
        /// that nothing but the process itself may know.
        var isOtherThanFormer: Bool {
            guard let former else { return false }
            if let mark = former.mark, let first {
                let end = max(former.committed ?? 0, RecordPosition.next(after: mark.offset))
                if first.offset < end, mark.isOfAnotherLog(than: first, seenUntil: former.seenUntil) { return true }
                // The same log, cut at its end.
                if first == mark { return false }
            }
            return former.committed.map { $0 > bounds.upperBound } ?? false
        }
    }

    /// The state of a partition that this process remembers from when it last had it.
    public struct Former: Sendable, Equatable {
        /// The offset that this process committed last; nil for none.
        public var committed: Int64?
        /// The log's first record by then; nil where it is not known.
        public var mark: LogMark?
        /// The time until which the log was known to begin with it.
        public var seenUntil: UnixTime?

        /// A partition of which `committed` was committed, in the log that began with `mark` until `seenUntil`.
        public init(committed: Int64? = nil, mark: LogMark? = nil, seenUntil: UnixTime? = nil) {
            self.committed = committed
            self.mark = mark
            self.seenUntil = seenUntil
        }
    }

    /// Why a partition is read from there.
    public enum Reason: Sendable, Equatable {
        /// The group has committed nothing.
        case fresh
        /// The group goes on where it was.
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
    /// Why it is the next.
    public let reason: Reason
    /// Whether the offsets that this process committed before are no measure any more: the log is another one, or ends earlier.
    public let isFormerOver: Bool

    /// The start that follows from `facts`.
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
        // Records that nobody could read yet were answered by nobody.
        return (facts.first == nil ? bounds.lowerBound : bounds.upperBound, .beyondEnd)
    }

    /// Whether the decision must be committed at once. Until the next record is committed, another start would find the same and tell it
    /// again, or see a log that has grown and pass over what came meanwhile.
    public var isToBeCommitted: Bool {
        switch reason {
        case .fresh, .resumed: false
        case .lost, .beyondEnd, .replaced: true
        }
    }
}
