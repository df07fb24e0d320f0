/// Where a long job shows how far it is: a line on a terminal, or nowhere.
package protocol ProgressDisplay {
    /// Whether anybody sees it; what is shown need not be found out otherwise.
    var isShown: Bool { get }
    /// Shows that `done` of `total` are done.
    mutating func show(_ done: Int, of total: Int, _ note: String)
    /// Takes away what was shown.
    mutating func clear()
}
