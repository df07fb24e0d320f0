import AsyncTestSupport
import Foundation
import Testing

/// The play of one fault: healthy programs, the fault, its sign at each place, and the fix.
struct FaultPlay {
    /// The time for a sign to appear; most need a second.
    private static let limit = Duration.seconds(60)
    /// The most lines of level `warning` or above from the beginning to the end of a fault.
    private static let mostLines = 5

    let fault: Fault
    let stage: FaultStage

    /// Plays the fault.
    ///
    /// - Returns: whether another fault can be played on the stage.
    func play() async -> Bool {
        do { try await run() } catch {
            let readiness = await stage.readiness().text
            Issue.record("\(fault.name): \(error)\n\(readiness)\n\(stage.log.suffix(3000))")
            return false
        }
        return !fault.ruinsBrokers
    }

    private func run() async throws {
        if !fault.isAtStart { try await stage.ready(toLog: fault.firstLine.text) }
        try await fault.prepare(stage)
        var before: Exposition?
        if fault.isAtStart { try await stage.stopWorker() } else { before = try await expectHealth() }
        stage.begin()
        try await fault.make(stage)
        if fault.isAtStart { try await stage.startWorker(isBroken: true) }
        try await expectAlert(before, try await expectSigns(before))
        try await expectEnd()
    }

    // MARK: Before

    /// Expects that no place shows the fault before there is one.
    ///
    /// - Returns: the metrics before the fault.
    private func expectHealth() async throws -> Exposition {
        let calm = try #require(stage.calm)
        expectAbsence(fault.readiness, in: calm.readiness, "readiness")
        expectAbsence(fault.page, in: calm.page, "page")
        expectAbsence(fault.firstLine, in: stage.logBehind(calm.logLength), "log")
        if fault.status.text != nil {
            expectAbsence(fault.status, in: try await stage.fleet(isBefore: true), "remint status")
        }
        #expect(
            !calm.metrics.shows(fault.metric, since: calm.metrics),
            "\(fault.name): the metric shows the fault before there is one")
        return calm.metrics
    }

    private func expectAbsence(_ sign: FaultSign, in text: String, _ place: String) {
        #expect(
            !sign.isShown(in: text), "\(fault.name): \(place) shows it before there is a fault: \(text.suffix(1000))")
    }

    // MARK: During

    /// Expects the fault's sign at each place.
    ///
    /// - Parameter before: the metrics before the fault; nil for a worker that has the fault from its start.
    /// - Returns: the metrics that show it; nil for a process that has exited.
    private func expectSigns(_ before: Exposition?) async throws -> Exposition? {
        // At the same time: the command asks brokers that are away for ten seconds.
        async let fleet: Void = expect(fault.status, "remint status") { try await stage.fleet() }
        try await expect(fault.readiness, "readiness") { await stage.readiness().text }
        var metrics: Exposition?
        try await eventually("\(fault.name): the metric", within: Self.limit) {
            metrics = await stage.metrics()
            return (metrics ?? Exposition("")).shows(fault.metric, since: before)
        }
        try await expect(fault.page, "page") { await stage.page() }
        try await expect(fault.firstLine, "first log line") { stage.newLog }
        try await fleet
        return metrics
    }

    private func expect(_ sign: FaultSign, _ place: String, in text: () async throws -> String) async throws {
        guard let wanted = sign.text else { return }
        var last = ""
        do {
            try await eventually("\(fault.name): \(place) with \"\(wanted)\"", within: Self.limit) {
                last = try await text()
                return sign.isShown(in: last)
            }
        } catch {
            Issue.record("\(fault.name): \(place) shows: \(last.suffix(3000))")
            throw error
        }
    }

    private func expectAlert(_ before: Exposition?, _ during: Exposition?) async throws {
        guard AlertTimeline.isInstalled else { return }
        let timeline = AlertTimeline(
            alert: fault.alert, job: fault.scene == .gateway ? "pickup" : "worker", before: before, during: during,
            now: Date.now.timeIntervalSince1970)
        let complaint = try await timeline.complaint()
        #expect(complaint == nil, "\(fault.name): \(fault.alert.name): \(complaint ?? "")")
    }

    // MARK: After

    /// Expects the last line, and few loud lines in all; then readies the stage for another fault.
    private func expectEnd() async throws {
        var log = ""
        if case .fixed(let fix) = fault.end {
            log = stage.newLog
            stage.mark()
            try await fix(stage)
        }
        try await expect(fault.lastLine, "last log line") { stage.newLog }
        if case .fixed = fault.end { try await stage.calmDown() }
        let loud = FaultStage.loudLines(of: log + stage.newLog)
        #expect(loud.count <= Self.mostLines, "\(fault.name): \(loud.joined(separator: "\n"))")
        if case .newWorker(let action) = fault.end { try await action(stage) }
    }
}
