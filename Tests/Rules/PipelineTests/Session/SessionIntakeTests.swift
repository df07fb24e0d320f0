import AdapterKit
import Pipeline
import Testing

/// Tests of the intake from a lane, and of the conditions that stop it.
@Suite struct SessionIntakeTests {
    private static let start = TestBench.now

    private func machine() -> SessionStateMachine {
        SessionStateMachine(
            SessionStateMachine.Settings(
                shares: LaneShares(batchEvents: 4, bulkShare: 0.1), linger: .zero, retries: .standard))
    }

    @Test func `every lane is taken from at first, twice a batch`() {
        var machine = machine()
        for lane in Lane.allCases { #expect(machine.intake(lane) == .records(8, except: [])) }
    }

    @Test func `a quiet worker polls every lane without taking records, until it is resumed`() {
        var machine = machine()
        machine.isQuiet = true
        for lane in Lane.allCases { #expect(machine.intake(lane) == .news) }
        for lane in Lane.allCases { #expect(machine.demandBeside(lane) == 0) }
        machine.isQuiet = false
        #expect(machine.intake(.live) == .records(8, except: []))
    }

    @Test func `a paused lane is polled without taking records, and the others yield theirs`() {
        var machine = machine()
        machine.pausedLanes = [.bulk, .retries]
        #expect(machine.intake(.bulk) == .news && machine.intake(.retries) == .news)
        #expect(machine.demandBeside(.bulk) == 0)
        #expect(machine.intake(.live) == .records(8, except: []))
        machine.rebalancing(.bulk, .assigned([]))
        #expect(machine.intake(.bulk) == .nothing, "its group is answered all the same")
        machine.answered(.bulk)
        machine.pausedLanes = []
        #expect(machine.intake(.bulk) == .records(8, except: []))
    }

    @Test func `a lane whose group waits for an answer is skipped, and the others are not`() {
        var machine = machine()
        machine.rebalancing(.bulk, .assigned([]))
        #expect(machine.intake(.bulk) == .nothing)
        #expect(machine.intake(.live) == .records(8, except: []))
        machine.answered(.bulk)
        #expect(machine.intake(.bulk) == .records(8, except: []))
    }

    @Test func `a stopping worker consumes no records`() {
        var machine = machine()
        machine.isQuiet = true
        machine.stop()
        for lane in Lane.allCases { #expect(machine.intake(lane) == .nothing) }
    }

    @Test func `no retries are taken beside a batch`() {
        let machine = machine()
        #expect(Lane.allCases.map { machine.demandBeside($0) } == Lane.allCases.map { $0 == .retries ? 0 : 8 })
    }

    @Test func `the oldest event of a lane waits since it was produced, and a retry since its first failure`() {
        var machine = machine()
        let failed = UnixTime(milliseconds: Self.start.milliseconds - 4_000_000)
        func record(_ lane: Lane, _ headers: [RecordHeader] = []) -> InputRecord {
            InputRecord(
                origin: RecordPosition(topic: lane.rawValue, partition: 0, offset: 0), timestamp: Self.start, key: nil,
                value: nil, headers: headers, lane: lane, tier: lane == .retries ? 0 : nil)
        }
        let headers = [RecordHeader("remint-first-failed-at", String(failed.milliseconds))]
        for lane in Lane.allCases { machine.received([record(lane, headers)], on: lane, at: Self.start) }
        #expect(Lane.allCases.map { machine.oldest($0) } == Lane.allCases.map { $0 == .retries ? failed : Self.start })
    }
}
