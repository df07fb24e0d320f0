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

    @Test func `letters of a topic that was created again are counted from its beginning`() {
        var count = LetterCount()
        let bounds = [Self.partition: Int64(0)..<4]
        _ = count.begin(bounds)
        for offset: Int64 in [0, 2] { count.add(Self.letter(offset)) }
        count.finish(bounds)
        count.forget()
        // The new topic has grown beyond the old one already.
        let grown = [Self.partition: Int64(0)..<6]
        let again = count.begin(grown)
        #expect(again == [0, 0])
        count.finish(grown)
        #expect(count.waiting(in: grown, LetterStates()) == [Self.partition: 0])
    }

    @Test func `a reading leaves out the partitions whose bounds the brokers did not return`() {
        var count = LetterCount()
        let other = TopicPartition(topic: Self.partition.topic, partition: 0)
        let first = [Self.partition: Int64(0)..<4, other: Int64(0)..<9]
        _ = count.begin(first)
        count.finish(first)
        let grown = [Self.partition: Int64(0)..<6, other: Int64(0)..<12]
        let starts = count.begin(grown.filter { $0.key == Self.partition })
        #expect(starts == [0, 4])
        #expect(count.partitions == [Self.partition])
        count.finish(grown)
        #expect(!count.isExact(in: grown), "the other partition was not read")
        let all = count.begin(grown)
        #expect(all == [9, 6], "the other partition is read from its own place on")
    }

    @Test func `letters that are kept do not exceed the limit however often a topic is read`() {
        var count = LetterCount(most: 10)
        var bounds = [Self.partition: Int64(0)..<0]
        for end in stride(from: Int64(4), through: 40, by: 4) {
            bounds = [Self.partition: 0..<end]
            guard count.begin(bounds) != nil else { continue }
            for offset in end - 4..<end { count.add(Self.letter(offset)) }
            count.finish(bounds)
        }
        #expect(!count.isExact(in: bounds))
        #expect(count.waiting(in: bounds, LetterStates()) == [Self.partition: 40], "at most: 8 letters and 32 offsets")
        // Retention deletes the counted letters, and makes room for others.
        bounds = [Self.partition: Int64(36)..<40]
        let starts = count.begin(bounds)
        #expect(starts == [0, 36])
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
