import Foundation
import Testing

/// The play of one fault: a healthy program, the fault, its sign at each place, and the fix.
struct FaultPlay {
    /// The time for a sign to appear; most need a second.
    private static let limit = Duration.seconds(60)
    /// The most lines of level `warning` or above from the beginning to the end of a fault.
    private static let mostLines = 5

    let fault: Fault
    let stage: FaultStage

    /// Plays `fault` on a stage of its own.
    static func run(_ fault: Fault) async throws {
        let stage = try await FaultStage()
        do { try await FaultPlay(fault: fault, stage: stage).run() } catch {
            Issue.record("\(fault.name): \(error)\n\(stage.log.suffix(3000))")
        }
        await stage.close()
    }

    private func run() async throws {
        try await fault.prepare(stage)
        var before: Exposition?
        if !fault.isAtStart {
            try await stage.start(fault.subject, isBroken: false)
            before = await stage.metrics()
            try await expectHealth(before)
        }
        stage.mark()
        try await fault.make(stage)
        if fault.isAtStart { try await stage.start(fault.subject, isBroken: true) }
        try await expectAlert(before, try await expectSigns())
        let log = stage.newLog
        try await expectEnd()
        let lines = (fault.fix == nil ? "" : log) + stage.newLog
        let loud = lines.split(separator: "\n").filter { $0.contains(#/^\S+ (?:warning|error|critical) /#) }
        #expect(loud.count <= Self.mostLines, "\(loud.joined(separator: "\n"))")
    }

    // MARK: Before

    /// Expects that no place shows the fault before there is one.
    private func expectHealth(_ metrics: Exposition?) async throws {
        let ready = await stage.readiness()
        #expect(ready.status == 200, "\(ready.text)")
        try expectAbsence(fault.readiness, in: ready.text, "readiness")
        try expectAbsence(fault.firstLine, in: stage.log, "log")
        try expectAbsence(fault.status, in: await stage.fleet(), "remint status")
        if fault.page.text != nil { try expectAbsence(fault.page, in: await stage.page(), "page") }
        #expect(metrics?.shows(fault.metric) == false, "the metric shows the fault before there is one")
    }

    private func expectAbsence(_ sign: FaultSign, in text: String, _ place: String) throws {
        guard let sign = sign.text else { return }
        #expect(!text.contains(sign), "\(place) shows it before there is a fault: \(text.suffix(1000))")
    }

    // MARK: During

    /// Expects the fault's sign at each place.
    ///
    /// - Returns: the metrics that show it; nil for a process that has exited.
    private func expectSigns() async throws -> Exposition? {
        try await expect(fault.readiness, "readiness") { await stage.readiness().text }
        var metrics: Exposition?
        let isShown = try await eventually {
            metrics = await stage.metrics()
            if case .absent = fault.metric.bound { return metrics == nil }
            return metrics?.shows(fault.metric) == true
        }
        #expect(isShown, "the metric does not show the fault")
        try await expect(fault.page, "page") { await stage.page() }
        try await expect(fault.firstLine, "first log line") { stage.newLog }
        try await expect(fault.status, "remint status") { try await stage.fleet() }
        return metrics
    }

    private func expect(_ sign: FaultSign, _ place: String, in text: () async throws -> String) async throws {
        guard let wanted = sign.text else { return }
        var last = ""
        let isShown = try await eventually {
            last = try await text()
            return last.contains(wanted)
        }
        #expect(isShown, "\(place) does not show \"\(wanted)\": \(last.suffix(3000))")
    }

    private func eventually(_ isTrue: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + Self.limit
        while try await !isTrue() {
            guard .now < end else { return false }
            try await Task.sleep(for: .milliseconds(100))
        }
        return true
    }

    private func expectAlert(_ before: Exposition?, _ during: Exposition?) async throws {
        guard AlertTimeline.isInstalled else { return }
        let timeline = AlertTimeline(
            alert: fault.alert, job: fault.subject == .worker ? "worker" : "pickup", before: before,
            during: during, now: Date.now.timeIntervalSince1970)
        let complaint = try await timeline.complaint()
        #expect(complaint == nil, "\(fault.alert.name): \(complaint ?? "")")
    }

    // MARK: After

    private func expectEnd() async throws {
        if let fix = fault.fix {
            stage.mark()
            try await fix(stage)
        }
        try await expect(fault.lastLine, "last log line") { stage.newLog }
        guard fault.fix != nil else { return }
        var last = (status: 0, text: "")
        let isOver = try await eventually {
            last = await stage.readiness()
            return last.status == 200 && fault.readiness.text.map { !last.text.contains($0) } ?? true
        }
        #expect(isOver, "readiness after the fix: \(last.text)")
    }
}
