import WorkerConfiguration

/// The display of a long job's progress: a line on a terminal, or nothing.
package protocol ProgressDisplay {
    /// Whether anybody sees the display. Where nobody does, callers need not gather what it shows.
    var isShown: Bool { get }
    /// Shows that `done` of `total` are done.
    mutating func show(_ done: Int, of total: Int, _ note: String)
    mutating func clear()
}

/// The rate of a job and the time left, from the progress that its display gets.
package struct ProgressPace {
    private var first: (done: Int, time: ContinuousClock.Instant)?
    private var total = 0

    package init() {}

    /// Returns the sentence's end for `done` of `total` at `time`, such as `, 480/s, 2m left`. It is empty until there is a rate.
    ///
    /// A job whose total changes, or that begins again, is measured from there on.
    package mutating func words(_ done: Int, of total: Int, at time: ContinuousClock.Instant) -> String {
        guard let first, total == self.total, done >= first.done else {
            first = (done, time)
            self.total = total
            return ""
        }
        let seconds = (time - first.time) / .seconds(1), count = done - first.done
        guard seconds >= 1, count > 0 else { return "" }
        let rate = Double(count) / seconds
        let speed = rate >= 10 ? String(Int(rate)) : String((rate * 10).rounded() / 10)
        guard done < total else { return ", \(speed)/s" }
        // A job slower than one in centuries has no time that helps.
        let left = min(Double(total - done) / rate, 31_536_000_000)
        return ", \(speed)/s, \(DurationText.format(seconds: Int64(left.rounded(.up)))) left"
    }
}
