import AdapterKit
import Synchronization
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

    @Test func `a status has the time since the loop's last heartbeat`() async {
        let status = WorkerStatus()
        let start = ContinuousClock.now
        status.beat("it consumes records")
        #expect(status.sinceHeartbeat <= .now - start)
        #expect(status.sinceHeartbeat >= .zero)
    }

    /// A value of the clock that nobody sets.
    private final class Elapsed: Sendable {
        private let seconds = Atomic(0)
        func pass(_ more: Int) { seconds.add(more, ordering: .relaxed) }
        var now: Duration { .seconds(seconds.load(ordering: .relaxed)) }
    }

    @Test func `a worker is ready only while events that wait are settled`() {
        let elapsed = Elapsed()
        let status = WorkerStatus(elapsed: { elapsed.now })
        status.set(.worker, nil)
        func look(_ waiting: SessionProgress.Waiting) -> Bool {
            status.beat("it consumes records")
            _ = status.look(at: waiting, "no record arrives")
            return status.isReady
        }
        var found: [Bool] = []
        for waiting: SessionProgress.Waiting in [.records, .records, .nothing, .records, .work, .work] {
            found.append(look(waiting))
            elapsed.pass(9)
        }
        #expect(found == [true, true, true, true, true, false])
        #expect(status.problems == [.progress: "events wait, and none is settled for 18s: no record arrives"])
        status.advanced()
        #expect(look(.records))
    }

    @Test func `a supervisor ends a worker whose events in hand stand still for no known reason`() {
        let elapsed = Elapsed()
        let status = WorkerStatus(elapsed: { elapsed.now })
        func looks(_ waiting: SessionProgress.Waiting) -> Bool {
            status.beat("it consumes records")
            _ = status.look(at: waiting, "")
            return status.isAlive
        }
        status.set(.worker, nil)
        let start = looks(.work)
        elapsed.pass(120)
        #expect(start && looks(.records), "a restart brings no records")
        #expect(!looks(.work))
        status.set(.publishing, "the topic cannot be written")
        #expect(looks(.work), "a restart does not help either")
    }

    @Test func `a loop that does not move keeps the worker from being ready, and then ends it`() {
        let elapsed = Elapsed()
        let status = WorkerStatus(elapsed: { elapsed.now })
        status.set(.worker, nil)
        status.beat("it processes a batch")
        elapsed.pass(30)
        #expect(status.problems == [.progress: "the worker's loop stands still for 30s: it processes a batch"])
        #expect(status.isAlive)
        elapsed.pass(30)
        #expect(!status.isAlive)
        status.beat("it consumes records")
        #expect(status.isReady && status.isAlive)
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

@Suite("Problems that come and go")
struct SteadyProblemsTests {
    /// Sets the problem at each time, and returns whether it counts at each second of `range`.
    private func shown(
        _ changes: [(second: Int, problem: String?)], isFault: Bool = true, in range: Range<Int>
    ) -> [Bool] {
        range.map { second in
            var problems = SteadyProblems<Int>()
            for change in changes where change.second <= second {
                problems.set(1, change.problem, isFault: isFault, at: .seconds(change.second))
            }
            return problems.all(at: .seconds(second))[1] != nil
        }
    }

    @Test func `a problem ends at once until it has come back twice within half a minute`() {
        let changes: [(second: Int, problem: String?)] = [
            (0, "a"), (5, nil), (34, "b"), (35, nil), (60, "c"), (61, nil),
        ]
        let found = shown(changes, in: 0..<100)
        let expected = (0..<100).map { (0..<5).contains($0) || $0 == 34 || (60..<91).contains($0) }
        #expect(found == expected)
    }

    @Test func `a worker that flips every few seconds changes its readiness once`() {
        let changes: [(second: Int, problem: String?)] = (0..<40).map { ($0 * 3, $0.isMultiple(of: 2) ? "a" : nil) }
        let found = shown(changes, in: 12..<140)
        #expect(found.allSatisfy { $0 })
    }

    @Test func `a decision of an operator ends at once, however often it is made`() {
        let changes: [(second: Int, problem: String?)] = (0..<20).map { ($0, $0.isMultiple(of: 2) ? "quiet" : nil) }
        #expect(shown(changes, isFault: false, in: 0..<20) == (0..<20).map { $0.isMultiple(of: 2) })
    }

    @Test func `the text shows that a problem is over and still counts`() {
        var problems = SteadyProblems<Int>()
        for second in 0..<6 { problems.set(1, second.isMultiple(of: 2) ? "no" : nil, at: .seconds(second)) }
        #expect(problems.all(at: .seconds(9)) == [1: "no (over for 4s; it comes and goes)"])
        #expect(problems.present(1) == nil)
    }

    @Test func `a problem that changes its words keeps its begin`() {
        var problems = SteadyProblems<WorkerStatus.Dependency>()
        for (isFault, offset) in [(true, 0), (false, 100)] {
            problems.set(.worker, "it is starting", isFault: isFault, at: .seconds(offset + 5))
            problems.set(.worker, "it is stopping", isFault: isFault, at: .seconds(offset + 9))
            #expect(problems.begins(at: .seconds(offset + 9)) == [.worker: .seconds(offset + 5)])
            problems.set(.worker, nil, isFault: isFault, at: .seconds(offset + 10))
            #expect(problems.begins(at: .seconds(offset + 10)).isEmpty)
        }
    }
}
