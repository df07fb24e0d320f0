import Operations

/// A line on standard error every five seconds, for logs and pipes.
struct ProgressLines: ProgressDisplay {
    /// The time of the last line. The stages of a job have copies of this value, and share it.
    private final class LastLine { var time: ContinuousClock.Instant? }

    let isShown = true
    private let last = LastLine()

    /// Shows how many of `total` are done, at most every five seconds.
    mutating func show(_ done: Int, of total: Int, _ note: String) {
        let now = ContinuousClock.now
        if let time = last.time, now - time < .seconds(5) { return }
        last.time = now
        let share = total > 0 ? Int(min(1, Double(done) / Double(total)) * 100) : 100
        Terminal.error("remint: \(share) % \(note)")
    }

    /// Keeps the written lines.
    mutating func clear() {}

    /// Lines where somebody wants them, else a bar on a terminal.
    static func display(asLines: Bool) -> any ProgressDisplay { asLines ? ProgressLines() : ProgressLine() }
}
