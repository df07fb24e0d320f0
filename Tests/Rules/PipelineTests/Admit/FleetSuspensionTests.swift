import AdapterKit
import Testing

@testable import Pipeline

/// The promises about suspensions, by the app's size and the fleet's.
@Suite("Suspensions of a fleet")
struct FleetSuspensionTests {
    static let sizes = [1, 10, 70, 1_000, 100_000]
    static let fleets = [1, 8]
    private static let window = 600

    /// Large apps retry less often: the same events, fewer verdicts.
    private static func fleet(_ users: Int, _ workers: Int) -> FleetSimulation {
        FleetSimulation(workers: workers, retry: users > 1_000 ? 300 : 30)
    }

    @Test(arguments: sizes, fleets)
    func `ten hostile accounts suspend no app, and its users are answered all along`(_ users: Int, _ workers: Int) {
        var fleet = Self.fleet(users, workers)
        fleet.add(users, .honest, within: 290)
        fleet.add(10, .hostile, within: 10)
        fleet.run(until: users > 1_000 ? 700 : 2_000)
        #expect(fleet.suspensions.isEmpty)
        #expect(fleet.honest.keys.allSatisfy { $0 == "mint" || $0 == "superseded" }, "\(fleet.honest)")
        #expect(fleet.honest["mint", default: 0] >= users)
        // One token for each life of a token, and no more for reporting.
        #expect(fleet.hostileTokens <= 10 * (fleet.second / 225 + 2))
    }

    @Test(arguments: sizes, fleets)
    func `a key unknown to the vendor suspends the app within the window; a fixed key resumes it by a probe`(
        _ users: Int, _ workers: Int
    ) throws {
        var fleet = Self.fleet(users, workers)
        fleet.accepted = []
        fleet.add(users, .honest, within: 290)
        fleet.run(until: Self.window) { fleet in fleet.held.allSatisfy { $0 != nil } }
        #expect(fleet.held.allSatisfy { $0 != nil }, "every worker holds it within the window")
        fleet.run(until: Self.window)
        let reach: Suspension.Reach = users < 20 ? .refusingUsers : .everyone
        #expect(fleet.held.allSatisfy { $0?.reach == reach })
        let suspension = try #require(fleet.suspensions.last)
        #expect(
            suspension.keyVersion == "v1"
                && suspension.why.contains(
                    /of (?:1 user refuses|(?:[2-9]|\d\d+) users refuse) tokens of key version v1/)
        )

        // The vendor learns the key. The longest wait between two probes is thirty minutes.
        fleet.accepted = ["v1"]
        let fixed = fleet.second
        fleet.run(until: fixed + 1_900) { fleet in fleet.held.allSatisfy { $0 == nil } }
        #expect(fleet.held.allSatisfy { $0 == nil }, "it resumes")
        let resumed = fleet.second
        let suspensions = fleet.suspensions.count
        let waited = fleet.honest["suspended", default: 0]
        fleet.run(until: resumed + (users > 1_000 ? 400 : 900))
        #expect(fleet.suspensions.count == suspensions, "it stays resumed")
        #expect(fleet.honest["suspended", default: 0] == waited, "and nobody waits any more")
    }

    @Test(arguments: sizes.filter { $0 >= 20 }, fleets)
    func `a broken SDK version of five users in a hundred suspends nobody and raises the alert`(
        _ users: Int, _ workers: Int
    ) {
        var fleet = Self.fleet(users, workers)
        let broken = (users + 19) / 20
        fleet.add(users - broken, .honest, within: 290)
        fleet.add(broken, .hostile, within: 290)
        fleet.run(until: users > 1_000 ? 500 : 1_200)
        #expect(fleet.suspensions.isEmpty)
        #expect(fleet.warnings.count >= 1)
        #expect(fleet.warnings.allSatisfy { $0.refusing * 20 >= $0.minted })
        #expect(fleet.honest.keys.allSatisfy { $0 == "mint" || $0 == "superseded" }, "\(fleet.honest)")
    }

    @Test(arguments: fleets)
    func `an honest user amid hostile accounts is answered at once, and ends their suspension`(
        _ workers: Int
    ) {
        var fleet = FleetSimulation(workers: workers)
        fleet.add(10, .hostile, within: 10)
        fleet.run(until: 1_000)
        #expect(fleet.suspensions.allSatisfy { $0.reach == .refusingUsers })
        #expect(fleet.held.allSatisfy { $0 != nil }, "nobody else is there, so that nothing else is known")
        fleet.add(1, .honest, within: 1)
        fleet.run(until: 1_100)
        #expect(fleet.honest == ["mint": 1])
        #expect(fleet.held.allSatisfy { $0 == nil })
    }

    @Test func `a worker that cannot follow the control topic suspends for its own partitions and reports it`() throws {
        var fleet = FleetSimulation(workers: 2)
        for index in fleet.workers.indices { fleet.workers[index].suspensions.isFleetFollowed = false }
        fleet.accepted = []
        fleet.add(200, .honest, within: 100)
        fleet.run(until: 300)
        #expect(fleet.held.allSatisfy { $0?.reach == .everyone })
        for (index, held) in fleet.held.enumerated() {
            #expect(held?.why.hasSuffix("by worker worker-\(index) of its partitions") == true, "\(held?.why ?? "")")
        }
        #expect(fleet.records == 0, "the others get nothing")
    }

    @Test func `a partition full of hostile accounts suspends nothing of a fleet with other users`() {
        var fleet = FleetSimulation(workers: 8)
        // Users are dealt out one by one: each eighth is the first worker's.
        for _ in 0..<25 {
            fleet.add(1, .hostile, within: 1)
            fleet.add(7, .honest, within: 7)
        }
        fleet.run(until: 1_500)
        #expect(fleet.suspensions.isEmpty)
        #expect(fleet.honest.keys.allSatisfy { $0 == "mint" || $0 == "superseded" }, "\(fleet.honest)")
    }

    @Test func `an app without refusals writes nothing to the control topic`() {
        var fleet = FleetSimulation(workers: 8)
        fleet.add(1_000, .honest, within: 290)
        fleet.run(until: 900)
        #expect(fleet.records == 0)
    }
}
