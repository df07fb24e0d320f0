import AdapterKit
import Testing

@testable import Pipeline

@Suite("The memory of taken records")
struct SessionMemoryTests {
    private static let size = 10_000
    private static let start = UnixTime(seconds: 1_763_640_000)

    private static func machine(memory: Int) -> SessionStateMachine {
        SessionStateMachine(
            SessionStateMachine.Settings(
                shares: LaneShares(batchEvents: 4, bulkShare: 0.1), linger: .zero, retries: .standard, memory: memory))
    }

    private static func record(_ offset: Int64, lane: Lane = .live, due: Int64 = 0) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: lane.rawValue, partition: 0, offset: offset), timestamp: start, key: nil,
            value: Array(repeating: 0, count: size),
            headers: lane == .retries
                ? [RecordHeader("remint-not-before", String(start.advanced(bySeconds: due).milliseconds))] : [],
            lane: lane, tier: lane == .retries ? 0 : nil)
    }

    @Test func `nothing more is taken until what is too much has been committed`() throws {
        var machine = Self.machine(memory: 3 * Self.size)
        machine.received([Self.record(0), Self.record(1)], on: .live, at: Self.start)
        #expect(machine.demand(.live) > 0)
        machine.received([Self.record(2)], on: .live, at: Self.start)
        #expect(machine.demand(.live) == 0)
        guard case .process(let batch) = machine.next(at: Self.start) else { throw Unexpected() }
        #expect(machine.demand(.live) == 0, "what is in work still takes its memory")
        let ends = batch.records.map {
            Settlement(origin: $0.origin, eventID: nil, app: nil, outcome: .skipped(""), output: nil)
        }
        machine.processed(batch.number, ends, seconds: 0.001)
        #expect(machine.demand(.live) == 0)
        guard case .commit = machine.next(at: Self.start) else { throw Unexpected() }
        #expect(machine.demand(.live) == 0)
        machine.committed(at: Self.start)
        #expect(machine.demand(.live) > 0)
    }

    @Test func `the records of a paused lane keep no other lane from being taken`() {
        var machine = Self.machine(memory: 2 * Self.size)
        machine.received([Self.record(0), Self.record(1)], on: .live, at: Self.start)
        #expect(machine.demand(.bulk) == 0)
        machine.pausedLanes = [.live]
        #expect(machine.demand(.bulk) > 0)
        machine.received([Self.record(0, lane: .bulk)], on: .bulk, at: Self.start)
        #expect(machine.demand(.bulk) == 0)
        machine.pausedLanes = []
        #expect(machine.demand(.live) == 0)
    }

    @Test func `the records of an unfinished batch count against the memory again`() throws {
        var machine = Self.machine(memory: 2 * Self.size)
        machine.received([Self.record(0), Self.record(1)], on: .live, at: Self.start)
        guard case .process(let batch) = machine.next(at: Self.start) else { throw Unexpected() }
        // A batch that comes back with too few ends is taken again.
        machine.processed(batch.number, [Settlement](), seconds: 0)
        #expect(machine.demand(.live) == 0)
        _ = machine.next(at: Self.start)
        machine.rebalancing(.live, .lost([TopicPartition(topic: "live", partition: 0)]))
        machine.answered(.live)
        #expect(machine.demand(.live) > 0 || machine.queued(.live) == 0)
    }

    @Test func `bulk leaves half of the memory to live events`() {
        var machine = Self.machine(memory: 4 * Self.size)
        machine.received([Self.record(0, lane: .bulk), Self.record(1, lane: .bulk)], on: .bulk, at: Self.start)
        #expect(machine.demand(.bulk) == 0)
        #expect(machine.demand(.live) > 0)
    }

    @Test func `retries that wait are not fetched for ever`() {
        var machine = Self.machine(memory: 4 * Self.size)
        machine.received([Self.record(0, lane: .retries, due: 100)], on: .retries, at: Self.start)
        #expect(machine.intake(.retries) == .records(8, except: []))
        machine.received([Self.record(1, lane: .retries, due: 100)], on: .retries, at: Self.start)
        #expect(machine.intake(.retries) == .records(8, except: [TopicPartition(topic: "retries", partition: 0)]))
        #expect(machine.demand(.live) > 0, "a tier that waits keeps no live event out")
    }

    private struct Unexpected: Error {}
}
