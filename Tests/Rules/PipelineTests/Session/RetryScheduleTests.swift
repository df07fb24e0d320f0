import AdapterKit
import Testing

@testable import Pipeline

@Suite("Records that wait for their moment")
struct RetryScheduleTests {
    private static let start = UnixTime(seconds: 1_763_640_000)

    private static func at(_ seconds: Int64) -> UnixTime { start.advanced(bySeconds: seconds) }

    private static func record(_ partition: Int32, _ offset: Int64, due: Int64) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: "t", partition: partition, offset: offset), timestamp: start, key: nil,
            value: nil,
            headers: [RecordHeader("remint-not-before", String(at(due).milliseconds))], lane: .retries, tier: 0)
    }

    private static func schedule(_ records: [InputRecord]) -> RetrySchedule {
        var schedule = RetrySchedule(.standard)
        for record in records { schedule.append(record, at: start) }
        return schedule
    }

    private static func names(_ records: [InputRecord]) -> [String] {
        records.map { "\($0.origin.partition)/\($0.origin.offset)" }
    }

    @Test func `a partition's records leave in the order of their offsets`() {
        var schedule = Self.schedule([
            Self.record(0, 1, due: 12), Self.record(0, 2, due: 10), Self.record(0, 3, due: 15),
        ])
        #expect(schedule.take(9, at: Self.at(11)).isEmpty)
        #expect(schedule.nextDue == Self.at(12))
        #expect(Self.names(schedule.take(9, at: Self.at(12))) == ["0/1", "0/2"])
        #expect(schedule.nextDue == Self.at(15))
        #expect(Self.names(schedule.take(9, at: Self.at(15))) == ["0/3"])
        #expect(schedule.nextDue == nil)
    }

    @Test func `the partition that is most overdue comes first, so that none is kept waiting`() {
        var schedule = Self.schedule(
            (0..<20).map { Self.record(0, $0, due: 5 + $0) } + (0..<5).map { Self.record(1, $0, due: 7) })
        var taken: [String] = []
        for _ in 0..<8 { taken += Self.names(schedule.take(2, at: Self.at(60))) }
        #expect(taken.firstIndex(of: "1/0") ?? 99 <= 4)
        #expect(taken.filter { $0.hasPrefix("1/") } == ["1/0", "1/1", "1/2", "1/3", "1/4"])
        #expect(taken.filter { $0.hasPrefix("0/") } == (0..<11).map { "0/\($0)" })
    }

    @Test func `records that are put back come first again, in their order`() {
        var schedule = Self.schedule((0..<6).map { Self.record(0, $0, due: 10) })
        let taken = schedule.take(3, at: Self.at(10))
        #expect(schedule.count == 3)
        schedule.putBack(taken)
        #expect(schedule.count == 6)
        #expect(schedule.dueCount(at: Self.at(10), limit: 100) == 6)
        #expect(Self.names(schedule.take(9, at: Self.at(10))) == (0..<6).map { "0/\($0)" })
    }

    @Test func `records are due up to the first that is not`() {
        let schedule = Self.schedule([
            Self.record(0, 1, due: 10), Self.record(0, 2, due: 20), Self.record(0, 3, due: 10),
            Self.record(1, 1, due: 10),
        ])
        #expect(schedule.dueCount(at: Self.at(9), limit: 9) == 0)
        #expect(schedule.dueCount(at: Self.at(10), limit: 9) == 2)
        #expect(schedule.dueCount(at: Self.at(20), limit: 9) == 4)
        #expect(schedule.dueCount(at: Self.at(20), limit: 3) == 3)
    }

    @Test func `a partition is paused at 500 and goes on at 100`() {
        var schedule = Self.schedule((0..<499).map { Self.record(0, $0, due: 10) } + [Self.record(1, 0, due: 10)])
        let partition = TopicPartition(topic: "t", partition: 0)
        #expect(schedule.throttled().isEmpty)
        schedule.append(Self.record(0, 499, due: 10), at: Self.start)
        #expect(schedule.throttled() == [partition])
        _ = schedule.take(399, at: Self.at(60))
        #expect(schedule.throttled() == [partition])
        _ = schedule.take(2, at: Self.at(60))
        #expect(schedule.throttled().isEmpty)
        for offset: Int64 in 500..<700 { schedule.append(Self.record(0, offset, due: 10), at: Self.start) }
        #expect(schedule.throttled().isEmpty, "it is not paused again before it is full again")
    }

    @Test func `records of a dropped partition are forgotten`() {
        var schedule = Self.schedule((0..<600).map { Self.record(0, $0, due: 10) } + [Self.record(1, 0, due: 10)])
        let partition = TopicPartition(topic: "t", partition: 0)
        #expect(schedule.throttled() == [partition])
        schedule.drop([partition])
        #expect(schedule.throttled().isEmpty)
        #expect(schedule.count == 1)
        #expect(Self.names(schedule.take(9, at: Self.at(10))) == ["1/0"])
    }
}
