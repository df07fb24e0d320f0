import Operations

/// A line on standard error every five seconds, for logs and pipes.
struct ProgressLines: ProgressDisplay {
    let isShown = true
    private var last: ContinuousClock.Instant?

    /// Shows how many of `total` are done, at most every five seconds.
    mutating func show(_ done: Int, of total: Int, _ note: String) {
        if let last, .now - last < .seconds(5) { return }
        last = .now
        let share = total > 0 ? Int(min(1, Double(done) / Double(total)) * 100) : 100
        Terminal.error("remint: \(share) % \(note)")
    }

    /// Leaves what was written.
    mutating func clear() {}

    /// Lines where somebody wants them, else a bar on a terminal.
    static func display(asLines: Bool) -> any ProgressDisplay { asLines ? ProgressLines() : ProgressLine() }
}
