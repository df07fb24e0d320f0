import Pipeline
import WorkerConfiguration

/// The job's line on the terminal: events sent, total, rate, the workers' lag, and the time left.
struct ReissueDisplay {
    private let total: Int?
    private let before: Int
    private let start = ContinuousClock.now
    private var line: any ProgressDisplay

    init(on line: any ProgressDisplay, total: Int?, startedWith sent: Int) {
        self.line = line
        self.total = total
        before = sent
    }

    mutating func show(_ progress: ReissueProgress, _ lane: any BulkLane) async {
        guard line.isShown else { return }
        let seconds = max(0.001, (.now - start) / .seconds(1))
        let rate = Double(progress.sent - before) / seconds
        let behind = await lane.lag
        var note = "\(progress.sent) sent, \(Int(rate))/s"
        if let behind { note += ", \(behind) waiting, \(max(0, progress.sent - behind)) answered" }
        if progress.rejected > 0 { note += ", \(progress.rejected) rejected" }
        if let total, rate > 0 {
            let rest = Double(max(0, total - progress.rows)) / rate
            note += ", \(DurationText.format(seconds: Int64(rest.rounded(.up)))) left"
        }
        line.show(progress.rows, of: total ?? progress.rows, note)
    }

    mutating func clear() { line.clear() }
}
