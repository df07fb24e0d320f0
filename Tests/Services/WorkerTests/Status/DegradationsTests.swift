import AdapterKit
import Testing

@testable import Pipeline
@testable import Worker

@Suite("Degraded parts of a worker") struct DegradationsTests {
    @Test func `a part has the reasons of all its sources until each is taken back`() {
        let degradations = Degradations()
        #expect(degradations.reasons().isEmpty)
        degradations.set(.telemetry, "no spans", of: "traces")
        degradations.set(.telemetry, "no numbers", of: "metrics")
        degradations.set(.control, "missing")
        #expect(degradations.reasons() == [.telemetry: "no numbers; no spans", .control: "missing"])
        degradations.set(.telemetry, nil, of: "metrics")
        degradations.set(.control, nil)
        #expect(degradations.reasons() == [.telemetry: "no spans"])
    }

    @Test func `a reason with a length is forgotten after it`() {
        let degradations = Degradations()
        degradations.set(.records, "a record was skipped", for: .seconds(900))
        let now = ContinuousClock.now
        #expect(degradations.reasons(at: now) == [.records: "a record was skipped"])
        #expect(degradations.reasons(at: now + .seconds(901)).isEmpty)
    }

    @Test func `a watched part is asked at each reading`() {
        let status = WorkerStatus()
        #expect(status.degradations.reasons().isEmpty)
        let pause = LanePause(lane: .live, since: UnixTime(seconds: 0), by: "ann", why: "the vendor moves")
        status.set([pause])
        #expect(status.degradations.reasons() == [.lanes: "the live lane is paused since 1970-01-01T00:00:00Z"])
        status.set([LanePause]())
        #expect(status.degradations.reasons().isEmpty)
    }

    @Test func `only the first of many waiting apps are named`() {
        let status = WorkerStatus()
        status.set(
            (1...7).map { number in
                WorkerStatus.AppStatus(
                    name: "app-\(number)", adapter: "braze", keyRing: "r", keyVersion: "k",
                    suspension: Suspension(app: "app-\(number)", since: UnixTime(seconds: 0), users: 9, keyVersion: "k")
                )
            })
        let reason = status.degradations.reasons()[.apps]
        #expect(reason?.hasPrefix("app-1 is suspended since 1970-01-01T00:00:00Z; ") == true)
        #expect(reason?.hasSuffix("; and 2 more") == true)
    }
}
