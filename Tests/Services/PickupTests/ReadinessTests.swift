import Access
import AdapterKit
import Pipeline
import Telemetry
import Testing
import Wiring

@testable import Pickup

/// Faults of the gateway's surroundings, and its readiness in each of them.
@Suite struct ReadinessTests {
    private static let now = UnixTime(seconds: 1_800_000_000)
    private static let keys = FetchedKeys.Condition(keys: 2, age: .seconds(60), isUsable: true)
    private static let well = Readiness.Facts(
        tail: TailState(partitions: 3, followed: [0, 1, 2]), sessions: [keys],
        certificateEnd: now.advanced(bySeconds: 1))

    private static func facts(_ change: (inout Readiness.Facts) -> Void) -> Readiness.Facts {
        var facts = well
        change(&facts)
        return facts
    }

    private static func problems(_ facts: Readiness.Facts) -> [String: String] {
        let found = Readiness(facts, at: now).dependencies.compactMap { dependency, problem in
            problem.map { (dependency.rawValue, $0) }
        }
        return Dictionary(found) { first, _ in first }
    }

    @Test func `a gateway that lacks nothing is ready`() {
        let readiness = Readiness(Self.well, at: Self.now)
        #expect(readiness.isReady)
        #expect(readiness.dependencies.map(\.dependency) == Readiness.Dependency.allCases)
    }

    private static let faults: [(name: String, facts: Readiness.Facts, part: String, problem: String)] = [
        (
            "brokers away", facts { $0.tail.silentSince = now }, "brokers", "no broker answers since \(now)"
        ),
        ("no topic followed", facts { $0.tail.partitions = nil }, "tokens", "the token topic is not followed"),
        ("one partition behind", facts { $0.tail.followed = [0, 2] }, "tokens", "1 partition is not followed yet"),
        ("all partitions behind", facts { $0.tail.followed = [] }, "tokens", "3 partitions are not followed yet"),
        (
            "no partition with a leader", facts { $0.tail = TailState(partitions: 2, leaderless: [0, 1]) }, "tokens",
            "no partition of the token topic has a leader"
        ),
        (
            "events refused", facts { $0.eventOutage = .init(topic: "in", code: "CODE", since: now) }, "events",
            "the brokers refuse events on in since \(now): CODE"
        ),
        (
            "no worker", facts { $0.workersAbsentSince = now }, "workers", "no worker is in the group since \(now)"
        ),
        (
            "no answers", facts { $0.unansweredSince = now }, "workers", "no worker answers since \(now)"
        ),
        (
            "a missing topic", facts { ($0.tail, $0.tail.isMissing) = (TailState(), true) }, "tokens",
            "the token topic does not exist or may not be read"
        ),
        (
            "a paused lane",
            facts {
                $0.lanePause = LanePause(lane: .live, since: now)
                $0.unansweredSince = now
            }, "lane", "an operator paused the live lane at \(now)"
        ),
        (
            "a clock ahead", facts { $0.clockDifference = 10_800_000_000 }, "clock",
            "this clock is 3h0m ahead of the records of the token topic"
        ),
        (
            "a clock behind", facts { $0.clockDifference = -400_000_000 }, "clock",
            "this clock is 6m40s behind the records of the token topic"
        ),
        (
            "crowded", facts { $0.crowdedSince = now }, "connections",
            "connections are refused since \(now): all are in use"
        ),
        (
            "keys never read", facts { $0.sessions = [keys, .init(failures: 3, age: nil, isUsable: false)] },
            "sessions",
            "the session issuer's keys were never read"
        ),
        (
            "keys too old", facts { $0.sessions = [.init(failures: 99, age: .seconds(100_000), isUsable: false)] },
            "sessions", "the session issuer's keys are too old to check sessions with"
        ),
        (
            "no usable key published",
            facts {
                $0.sessions = [keys, .init(problem: .noUsableKey, lacksKeys: true, age: .seconds(1), isUsable: false)]
            },
            "sessions", "the session issuer publishes no usable key"
        ),
        (
            "certificate expired", facts { $0.certificateEnd = now }, "certificate",
            "pickup.tls.certificate expired at \(now)"
        ),
        ("stopping", facts { $0.isStopping = true }, "gateway", "the gateway is about to stop"),
    ]

    @Test(arguments: faults.map(\.name))
    func `each fault keeps the gateway from being ready, under its own name alone`(_ name: String) throws {
        let fault = try #require(Self.faults.first { $0.name == name })
        #expect(!Readiness(fault.facts, at: Self.now).isReady)
        #expect(Self.problems(fault.facts) == [fault.part: fault.problem])
    }

    @Test func `a partition without a leader leaves the gateway ready for the users of all others`() {
        let tail = TailState(partitions: 3, followed: [0, 2], leaderless: [1])
        #expect(Readiness(Self.facts { $0.tail = tail }, at: Self.now).isReady)
    }

    @Test func `keys that are stale and still count leave the gateway ready`() {
        let stale = FetchedKeys.Condition(keys: 1, isStale: true, failures: 9, age: .seconds(3600), isUsable: true)
        #expect(Readiness(Self.facts { $0.sessions = [stale] }, at: Self.now).isReady)
    }

    @Test func `a gateway without sessions or certificate does not report on them`() {
        let readiness = Readiness(Readiness.Facts(tail: TailState(partitions: 1, followed: [0])), at: Self.now)
        #expect(readiness.isReady)
        #expect(
            readiness.dependencies.map(\.dependency) == [
                .brokers, .tokens, .events, .workers, .lane, .clock, .connections, .gateway,
            ])
    }

    @Test func `unknown workers are no fault, and are not called well`() {
        let unknown = Readiness(Self.facts { $0.areWorkersUnknown = true }, at: Self.now)
        #expect(unknown.isReady && unknown.unknown == [.workers])
        let absent = Readiness(
            Self.facts { ($0.areWorkersUnknown, $0.unansweredSince) = (true, Self.now) }, at: Self.now)
        #expect(!absent.isReady && absent.unknown.isEmpty)
    }

    @Test func `a worker that is back within the time that calls wait was not missed`() {
        var presence = WorkerPresence()
        #expect(presence.absentSince(at: Self.now) == nil && !presence.isKnown, "nobody was asked")
        presence.record(.members(2), at: Self.now)
        let left = Self.now.advanced(bySeconds: 60)
        presence.record(.members(0), at: left)
        #expect(presence.absentSince(at: left.advanced(bySeconds: 9)) == nil)
        presence.record(.members(0), at: left.advanced(bySeconds: 9))
        #expect(presence.absentSince(at: left.advanced(bySeconds: 10)) == left)
        presence.record(.members(1), at: left.advanced(bySeconds: 11))
        #expect(presence.absentSince(at: left.advanced(bySeconds: 60)) == nil)
    }

    @Test func `a group that is empty from the first look on has no worker`() {
        var presence = WorkerPresence()
        presence.record(.members(0), at: Self.now)
        #expect(presence.absentSince(at: Self.now) == Self.now)
    }

    @Test func `a group that does not exist has no worker after the time that calls wait`() {
        var presence = WorkerPresence()
        presence.record(.none, at: Self.now)
        #expect(presence.absentSince(at: Self.now.advanced(bySeconds: 9)) == nil, "the fleet may be about to begin")
        presence.record(.none, at: Self.now.advanced(bySeconds: 10))
        #expect(presence.absentSince(at: Self.now.advanced(bySeconds: 10)) == Self.now)
        #expect(presence.isKnown)
    }

    @Test func `a group that is hidden has no worker only where it had one`() {
        var presence = WorkerPresence()
        presence.record(.hidden, at: Self.now)
        #expect(presence.absentSince(at: Self.now.advanced(bySeconds: 60)) == nil && !presence.isKnown)
        presence.record(.members(1), at: Self.now)
        presence.record(.hidden, at: Self.now.advanced(bySeconds: 1))
        #expect(presence.absentSince(at: Self.now.advanced(bySeconds: 11)) == Self.now.advanced(bySeconds: 1))
    }

    @Test func `a clock is wrong once three records in a row differ, until one agrees`() {
        var clock = ClockComparison()
        let wrong = Self.now.advanced(bySeconds: 10_800)
        for _ in 0..<2 { clock.record(Self.now, at: wrong) }
        #expect(clock.difference(at: wrong) == nil, "two may be late")
        clock.record(Self.now, at: wrong)
        #expect(clock.difference(at: wrong) == 10_800_000_000)
        #expect(clock.difference(at: wrong.advanced(bySeconds: 601)) == nil, "nobody knows any more")
        clock.record(wrong.advanced(bySeconds: -2), at: wrong)
        #expect(clock.difference(at: wrong) == nil)
        for _ in 0..<3 { clock.record(Self.now, at: Self.now.advanced(bySeconds: -400)) }
        #expect(clock.difference(at: Self.now) == -400_000_000)
    }

    @Test func `records of a slow worker among others are no wrong clock`() {
        var clock = ClockComparison()
        for number: Int64 in 0..<30 {
            clock.record(Self.now.advanced(bySeconds: number % 3 == 0 ? 0 : 900), at: Self.now)
        }
        #expect(clock.difference(at: Self.now) == nil)
    }

    @Test func `no partition counts as followed while no broker answers`() {
        let (metrics, store) = (PickupMetrics(), TokenStore(capacity: 1 << 20) { Self.now })
        func followed() -> Bool {
            metrics.set(store)
            return metrics.registry.exposition().contains("\nremint_pickup_followed_partitions 3")
        }
        store.changeTail { $0 = TailState(partitions: 3, followed: [0, 1, 2]) }
        #expect(followed())
        store.changeTail { $0.silentSince = Self.now }
        #expect(!followed())
    }
}
