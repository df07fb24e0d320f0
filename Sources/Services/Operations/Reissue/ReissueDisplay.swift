/// The job's line on the terminal: events sent, total, and the workers' lag.
struct ReissueDisplay {
    private let total: Int?
    private var line: any ProgressDisplay

    init(on line: any ProgressDisplay, total: Int?) {
        self.line = line
        self.total = total
    }

    mutating func show(_ progress: ReissueProgress, _ lane: any BulkLane) async {
        guard line.isShown else { return }
        let behind = await lane.lag
        var note = "\(progress.sent) sent"
        if let behind { note += ", \(behind) waiting, \(max(0, progress.sent - behind)) answered" }
        if progress.rejected > 0 { note += ", \(progress.rejected) rejected" }
        line.show(progress.rows, of: total ?? progress.rows, note)
    }

    mutating func clear() { line.clear() }
}
