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

        /// A log of `bounds`, of which the group has committed nothing.
        public init(
            bounds: Range<Int64>, first: LogMark? = nil, committed: Int64? = nil, mark: LogMark? = nil,
            committedAt: UnixTime? = nil
        ) {
            self.bounds = bounds
            self.first = first
            self.committed = committed
            self.mark = mark
            self.committedAt = committedAt
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

    /// The start that follows from `facts`.
    public init(_ facts: Facts) {
        let bounds = facts.bounds
        guard let committed = facts.committed else {
            (offset, reason) = (bounds.lowerBound, .fresh)
            return
        }
        if let mark = facts.mark, let first = facts.first, first.offset < max(committed, mark.offset + 1),
            mark.isOfAnotherLog(than: first, seenUntil: facts.committedAt)
        {
            (offset, reason) = (bounds.lowerBound, .replaced)
        } else if committed < bounds.lowerBound {
            (offset, reason) = (bounds.lowerBound, .lost(bounds.lowerBound - max(0, committed)))
        } else if committed > bounds.upperBound {
            (offset, reason) = (bounds.upperBound, .beyondEnd)
        } else {
            (offset, reason) = (committed, .resumed)
        }
    }

    /// Whether the decision must be committed at once: until the next record is committed, another start would see a longer log and
    /// pass over what came meanwhile.
    public var isToBeCommitted: Bool { reason == .beyondEnd }
}
