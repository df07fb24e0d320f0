/// The ends of topics at a moment: for each topic its partitions' next offsets, in the partitions' order.
package struct TopicMarks: Sendable, Equatable {
    /// The next offsets by topic.
    package let ends: [String: [Int64]]

    /// Marks at these ends.
    package init(_ ends: [String: [Int64]]) { self.ends = ends }
}

/// The users who get their tokens first, by their rows in the campaign's list.
package struct RotationCanary: Sendable, Equatable {
    /// Rows before it.
    package let firstRow: Int
    /// The number of the canary's rows, an event each.
    package let count: Int
    /// The ends of the topics before its users were looked up in the ledger: every later outcome lies behind them.
    package let marks: TopicMarks
    /// The canary's users by app; empty for a canary from before each app was judged by itself.
    package let strata: [RotationStratum]
    /// The ends of the topics of outcomes and of reports when it was answered, so that it can be watched again without its own
    /// tokens, which compaction may remove; nil before, and in a file from before canaries noted them.
    package internal(set) var answered: TopicMarks?
    /// Whether it was judged and did not pass.
    package var hasFailed = false

    /// The canary of `count` rows behind the first `firstRow`.
    package init(firstRow: Int, count: Int, marks: TopicMarks, strata: [RotationStratum] = []) {
        self.strata = strata
        self.firstRow = firstRow
        self.count = count
        self.marks = marks
    }
}
