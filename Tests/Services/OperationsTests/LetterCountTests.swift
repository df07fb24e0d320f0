import AdapterKit
import Kafka
import Pipeline
import Testing

@testable import Operations

/// Tests of the count of dead letters, which leaves out the marks of transactions.
@Suite struct LetterCountTests {
    private static let partition = TopicPartition(topic: "remint.dead-letters", partition: 1)

    private static func letter(_ offset: Int64, isWorkers: Bool = true) -> InputRecord {
        let headers = isWorkers ? [RecordHeader(HopHeaders.failedAt, "2026-11-21T10:00:00Z")] : []
        return InputRecord(
            origin: RecordPosition(topic: partition.topic, partition: 1, offset: offset), timestamp: nil, key: nil,
            value: [], headers: headers, lane: .retries)
    }

    @Test func `a transaction's marks and handled letters are not counted`() throws {
        var count = LetterCount()
        let bounds = [Self.partition: Int64(5)..<18]
        let starts = count.begin(bounds)
        #expect(starts == [0, 5])
        for offset: Int64 in [5, 7, 9] { count.add(Self.letter(offset)) }
        count.add(Self.letter(11, isWorkers: false))
        #expect(!count.isExact(in: bounds))
        count.finish(bounds)
        var states = LetterStates()
        #expect(count.isExact(in: bounds) && count.waiting(in: bounds, states) == [Self.partition: 4])
        states.finish(try #require(LetterName(Self.letter(7))))
        #expect(count.waiting(in: bounds, states) == [Self.partition: 3])
    }

    @Test func `a second reading begins behind the first one, and retention takes letters away`() {
        var count = LetterCount()
        let first = [Self.partition: Int64(0)..<4]
        _ = count.begin(first)
        for offset: Int64 in [0, 2] { count.add(Self.letter(offset)) }
        count.finish(first)
        let nothing = count.begin(first)
        #expect(nothing == nil, "nothing is unread")
        let later = [Self.partition: Int64(1)..<6]
        let rest = count.begin(later)
        #expect(rest == [0, 4])
        count.add(Self.letter(4))
        count.finish(later)
        #expect(count.waiting(in: later, LetterStates()) == [Self.partition: 2])
        let created = [Self.partition: Int64(0)..<3]
        let all = count.begin(created)
        #expect(all == [0, 0], "a topic that was created again is read from its beginning")
    }

    @Test func `a topic too long for a glance is counted by its offsets`() throws {
        var count = LetterCount()
        let bounds = [Self.partition: Int64(0)..<(Int64(LetterCount.most) + 1)]
        let starts = count.begin(bounds)
        #expect(starts == nil && !count.isExact(in: bounds))
        var states = LetterStates()
        states.finish(try #require(LetterName(Self.letter(7))))
        #expect(count.waiting(in: bounds, states) == [Self.partition: LetterCount.most])
    }
}
