import AdapterKit
import Operations
import Telemetry
import Testing
import WorkerTestSupport

@testable import Pipeline
@testable import Worker
@testable import WorkerConfiguration

/// Tests of the verdict on a worker, and of the figures that it depends on.
@Suite struct WorkerVerdictTests {
    private func settlement(_ app: String?, _ outcome: Outcome) -> Settlement {
        Settlement(
            origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: app, outcome: outcome,
            output: nil, algorithm: nil)
    }

    @Test func `the worker's verdict has the worst first, with the begin of each problem and the next probe`() throws {
        let status = WorkerStatus()
        status.set(.worker, nil)
        #expect(StatusReporter(status: status).report().verdict == Verdict([]))
        status.set(.brokers, "no broker can be reached")
        status.degradations.set(.telemetry, "no spans")
        let pause = LanePause(lane: .bulk, since: UnixTime(seconds: 5), by: "ann")
        status.set([pause])
        let suspension = Suspension(app: "ill", since: UnixTime(seconds: 9), users: 3, keyVersion: "k1")
        var app = WorkerStatus.AppStatus(
            name: "ill", adapter: "braze", keyRing: "r", keyVersion: "k1", suspension: suspension)
        app.nextProbe = UnixTime(seconds: 99)
        status.set([app])
        let later = ContinuousClock.now + .seconds(120)
        let verdict = StatusReporter(status: status).report(at: later).verdict
        #expect(verdict.state == "fails")
        #expect(verdict.findings.map(\.subject) == ["worker/brokers", "app/ill", "worker/telemetry", "lane/bulk"])
        #expect(verdict.findings.map(\.effect) == [.fails, .fails, .degraded, .paused])
        let begin = Events.now.advanced(bySeconds: -120)
        #expect(verdict.findings[0].since.map { $0 >= begin && $0 < Events.now } == true)
        #expect(verdict.findings[2].since.map { $0 >= begin && $0 < Events.now } == true)
        #expect(verdict.findings[1].until == UnixTime(seconds: 99))
        #expect(verdict.findings[3] == .lane(pause))
    }

    @Test func `dead letters of strangers do not degrade the worker, and those of an app do`() {
        let (status, metrics) = (WorkerStatus(), WorkerMetrics())
        status.set([.init(name: "a", adapter: "braze", keyRing: "r", keyVersion: nil, suspension: nil)])
        let reporter = StatusReporter(status: status, metrics: metrics)
        metrics.ends.count([
            settlement("a", .minted), settlement("a", .deadLettered(.keyUnavailable)),
            settlement(nil, .deadLettered(.unknownApp)),
        ])
        reporter.note(at: .now - .seconds(60))
        metrics.ends.count(Array(repeating: settlement(nil, .deadLettered(.unknownApp)), count: 100))
        metrics.ends.count([settlement("a", .minted)])
        #expect(reporter.deadLetterExcess == nil)
        metrics.ends.count([settlement("a", .deadLettered(.keyUnavailable))])
        #expect(
            reporter.deadLetterExcess
                == "1 of 2 events in the last 15 minutes are dead letters: key_unavailable")
    }

    /// Events of an app that fail and that get a token, and whether the worker is ready.
    @Test(arguments: [(9, 0, true), (10, 0, false), (10, 10, true), (11, 10, false), (0, 9, true)])
    func `a worker whose app gets no tokens because they fail is not ready`(
        _ failed: Int, _ minted: Int, _ isReady: Bool
    ) {
        let (status, metrics) = (WorkerStatus(), WorkerMetrics())
        status.set(.worker, nil)
        status.set([.init(name: "a", adapter: "braze", keyRing: "r", keyVersion: nil, suspension: nil)])
        let reporter = StatusReporter(status: status, metrics: metrics)
        metrics.ends.count(Array(repeating: settlement("a", .deadLettered(.mintFailed)), count: 100))
        reporter.note(at: .now - .seconds(30))
        metrics.ends.count(Array(repeating: settlement("a", .deadLettered(.mintFailed)), count: failed))
        metrics.ends.count(Array(repeating: settlement("a", .minted), count: minted))
        metrics.ends.count(Array(repeating: settlement("b", .minted), count: 50))
        reporter.note(at: .now)
        #expect(status.isReady == isReady)
        let report = reporter.report()
        #expect(report.verdict.findings.map(\.subject) == (isReady ? [] : ["worker/minting"]))
        #expect(report.worker.state == (isReady ? "ready" : "not_ready"))
    }
}
