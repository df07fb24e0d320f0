import AdapterKit
import HTTPTypes
import Pipeline
import Synchronization
import Testing

@testable import Pickup

/// An app whose events wait, as the gateway sees it.
@Suite struct PausedAppTests {
    @Test func `a pause with an end ends by itself, without a word of the control topic`() {
        let start = UnixTime(seconds: 1_800_000_000)
        let clock = Mutex(start)
        let store = TokenStore(capacity: 1 << 20) { clock.withLock { $0 } }
        store.held("shop", Suspension(app: "shop", cause: .paused, since: start, until: start.advanced(bySeconds: 600)))
        store.held("other", Suspension(app: "other", cause: .paused, since: start))
        #expect(store.suspension(of: "shop")?.cause == .paused)
        clock.withLock { $0 = start.advanced(bySeconds: 600) }
        #expect(store.suspension(of: "shop") == nil)
        #expect(store.suspension(of: "other") != nil, "one without an end stays")
    }

    private static let start = UnixTime(seconds: 1_800_000_000)

    private static func problem(_ suspension: Suspension, after seconds: Int64) -> Problem {
        Problem.waiting(suspension, probeWait: 60, at: start.advanced(bySeconds: seconds))
    }

    @Test(arguments: [(0, 15), (50, 10), (59, 1), (60, 15), (100_000, 15), (-100_000, 15)] as [(Int64, Int)])
    func `a suspended app's devices come back within half a minute`(_ seconds: Int64, _ wait: Int) {
        let problem = Self.problem(Suspension(app: "shop", since: Self.start), after: seconds)
        #expect(problem.status == .serviceUnavailable && problem.code == "app_suspended")
        // The answer spreads it up to twice as long.
        #expect(problem.retryAfter == wait)
    }

    @Test(arguments: [(nil, 60), (5, 5), (0, 1), (100_000, 60)] as [(Int64?, Int)])
    func `a paused app differs from a suspended one, and its devices come back within two minutes`(
        _ end: Int64?, _ wait: Int
    ) {
        let pause = Suspension(
            app: "shop", cause: .paused, since: Self.start, until: end.map { Self.start.advanced(bySeconds: $0) })
        let problem = Self.problem(pause, after: 0)
        #expect(problem.status == .serviceUnavailable && problem.code == "app_paused")
        #expect(problem.retryAfter == wait)
    }

    @Test func `an event that waited too long for a suspended app is no conflict`() {
        let problem = Problem(.appSuspended)
        #expect(problem.status == .serviceUnavailable && problem.retryAfter == 15)
    }

    @Test func `the first ask of each user of a suspended app reaches a worker, and one every two seconds`() {
        var probes = ProbeAsks()
        func admits(_ user: String, of app: String = "shop", since: UnixTime = Self.start, at tenth: Int64) -> Bool {
            probes.admits(
                Array(user.utf8), of: app, since: since, at: Self.start.advanced(byMicroseconds: tenth * 100_000))
        }
        #expect(admits("ann", at: 0))
        let admitted = (1..<62).filter { admits("ann", at: $0) }
        #expect(admitted == [1, 21, 41, 61])
        // Accounts that ask all the time keep no other user from a worker, and a new suspension begins anew.
        #expect(admits("bob", at: 62) && !admits("bob", at: 63))
        #expect(admits("ann", of: "other", at: 63), "apps apart")
        // A clock that was set back holds nothing up.
        #expect(admits("ann", at: 0) && !admits("ann", at: 1))
        #expect(admits("ann", since: Self.start.advanced(bySeconds: 1), at: 1))
    }
}
