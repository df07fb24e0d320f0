import AdapterKit
import Pipeline
import Testing

@testable import Wiring
@testable import Worker

@Suite struct CommittedOffsetsTests {
    private let partition = TopicPartition(topic: "in", partition: 3)
    private let time = UnixTime(milliseconds: 5_000)

    private func record(_ offset: Int64, of number: Int32 = 3) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: "in", partition: number, offset: offset), timestamp: nil, key: nil, value: [],
            headers: [], lane: .live, tier: nil)
    }

    @Test func `a partition that comes back where it was left is no regression`() {
        var offsets = CommittedOffsets()
        offsets.committed([partition: 70], at: time)
        offsets.assigned([partition])
        #expect(offsets.regressions(in: [record(70), record(71)]) == [])
    }

    @Test func `a partition that others took further, or that was never committed here, is no regression`() {
        var offsets = CommittedOffsets()
        offsets.committed([partition: 70], at: time)
        offsets.assigned([partition, TopicPartition(topic: "in", partition: 4)])
        #expect(offsets.regressions(in: [record(900), record(2, of: 4)]) == [])
    }

    @Test func `a partition that begins before the committed offset is reported once`() {
        var offsets = CommittedOffsets()
        offsets.committed([partition: 70], at: time)
        offsets.committed([partition: 40], at: time)
        offsets.assigned([partition])
        #expect(
            offsets.regressions(in: [record(50), record(51)]) == [
                .init(partition: partition, committed: 70, offset: 50)
            ])
        offsets.assigned([partition])
        #expect(offsets.regressions(in: [record(52)]) == [])
    }

    @Test func `only the first record after an assignment is looked at`() {
        var offsets = CommittedOffsets()
        offsets.committed([partition: 70], at: time)
        #expect(offsets.regressions(in: [record(1)]) == [])
    }

    @Test func `a partition's former state is its last commit with the latest mark of its log`() {
        var offsets = CommittedOffsets()
        let mark = LogMark(offset: 4, timestamp: 7), later = LogMark(offset: 9, timestamp: 8)
        let look = UnixTime(milliseconds: 6_000)
        #expect(offsets.former(partition, nil, seenUntil: look) == nil)
        #expect(offsets.former(partition, later, seenUntil: look) == .init(mark: later, seenUntil: look))
        offsets.committed([partition: 70], [partition: mark], at: time)
        #expect(offsets.former(partition, nil, seenUntil: look) == .init(committed: 70, mark: mark, seenUntil: time))
        #expect(offsets.former(partition, later, seenUntil: look) == .init(committed: 70, mark: later, seenUntil: look))
        #expect(offsets.former(partition, later, seenUntil: nil) == .init(committed: 70, mark: later, seenUntil: time))
        offsets.forget(partition)
        #expect(offsets.former(partition, nil, seenUntil: look) == nil)
    }
}
