import AdapterKit
import Testing

@testable import Pipeline
@testable import Worker

@Suite struct WorkerStatusTests {
    private let suspension = Suspension(
        app: "a", since: UnixTime(seconds: 1), users: 10, keyVersion: "k1")

    private func app(_ name: String, _ suspension: Suspension? = nil) -> WorkerStatus.AppStatus {
        WorkerStatus.AppStatus(
            name: name, adapter: "braze", keyRing: "r", keyVersion: "k1", suspension: suspension)
    }

    @Test func `a status is not ready before the worker works, and has the reasons`() {
        let status = WorkerStatus()
        #expect(!status.isReady)
        #expect(status.problems == [.worker: "it is starting"])
        status.set(.worker, nil)
        #expect(status.isReady)
        status.set(.publishing, "no")
        status.set(.keys, "broken")
        #expect(status.problems == [.publishing: "no", .keys: "broken"])
        status.set(.publishing, nil)
        status.set(.keys, nil)
        #expect(status.isReady)
    }

    @Test func `keys are a problem until every ring and signer is right`() {
        let status = WorkerStatus()
        status.setKeys("the ring is broken", of: "b")
        status.setKeys("the signer is away", of: "a")
        #expect(status.problems[.keys] == "the signer is away; the ring is broken")
        status.setKeys(nil, of: "b")
        #expect(status.problems[.keys] == "the signer is away")
        status.setKeys(nil, of: "a")
        #expect(status.problems[.keys] == nil)
    }

    @Test func `a status accepts requests to resume suspended apps alone, once each`() {
        let status = WorkerStatus()
        status.set([app("a", suspension), app("b")])
        #expect(status.resume("a") && status.resume("a"))
        #expect(!status.resume("b"))
        #expect(!status.resume("unknown"))
        #expect(status.takeResumptions() == ["a"])
        #expect(status.takeResumptions().isEmpty)
    }

    @Test func `a status has the time since the loop's last heartbeat`() async {
        let status = WorkerStatus()
        let start = ContinuousClock.now
        status.beat()
        #expect(status.sinceHeartbeat <= .now - start)
        #expect(status.sinceHeartbeat >= .zero)
    }

    @Test func `quiet mode comes and goes`() {
        let status = WorkerStatus()
        #expect(!status.isQuiet)
        status.toggleQuiet()
        #expect(status.isQuiet)
        status.toggleQuiet()
        #expect(!status.isQuiet)
    }
}
