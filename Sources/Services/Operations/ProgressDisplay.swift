/// The display of a long job's progress: a line on a terminal, or nothing.
package protocol ProgressDisplay {
    /// Whether anybody sees the display. Where nobody does, callers need not gather what it shows.
    var isShown: Bool { get }
    /// Shows that `done` of `total` are done.
    mutating func show(_ done: Int, of total: Int, _ note: String)
    /// Clears the line that was shown.
    mutating func clear()
}
