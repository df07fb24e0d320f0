import Operations

/// A line on standard error that is overwritten as work continues; nothing where standard error is no terminal.
package struct ProgressLine: ProgressDisplay {
    /// Whether anybody sees it.
    package let isShown = CommandContext.current.terminals.contains(.errors)
    private var last = ContinuousClock.now - .seconds(1)
    private var isDirty = false
    private var pace = ProgressPace()

    package init() {}

    /// Shows how many of `total` are done, at most ten times a second.
    package mutating func show(_ done: Int, of total: Int, _ note: String) {
        let now = ContinuousClock.now
        guard isShown, now - last >= .milliseconds(100) else { return }
        last = now
        isDirty = true
        let share = total > 0 ? min(1, Double(done) / Double(total)) : 1
        let filled = Int(share * 30)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
        write("\r\(bar) \(Int(share * 100)) %  \(note)\(pace.words(done, of: total, at: now))\u{1B}[K")
    }

    /// Removes the line.
    package mutating func clear() {
        guard isDirty else { return }
        isDirty = false
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) { CommandContext.current.errors(text) }
}
