import AdapterKit
import Pipeline
import Testing

@Suite("The start of a partition")
struct PartitionStartTests {
    /// A log that began with a record at 10 when offset 50 was committed.
    private static let mark = LogMark(offset: 10, timestamp: 1_000)
    private static let committedAt = UnixTime(milliseconds: 5_000)

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let facts: PartitionStart.Facts
        let offset: Int64
        let reason: PartitionStart.Reason
        let isFormerOver: Bool

        init(
            _ name: String, _ bounds: Range<Int64>, first: LogMark? = nil, committed: Int64? = 50,
            mark: LogMark? = PartitionStartTests.mark, at time: UnixTime? = PartitionStartTests.committedAt,
            former: PartitionStart.Former? = nil, isOver: Bool? = nil,
            from offset: Int64, _ reason: PartitionStart.Reason
        ) {
            testDescription = name
            facts = PartitionStart.Facts(
                bounds: bounds, first: first, committed: committed, mark: mark, committedAt: time, former: former)
            self.offset = offset
            self.reason = reason
            isFormerOver = isOver ?? [.beyondEnd, .replaced].contains(reason)
        }

        /// A case in which the group has no offset, as after its topic was deleted, and this process had committed 50.
        static func forgotten(
            _ name: String, _ bounds: Range<Int64>, first: LogMark? = nil,
            mark: LogMark? = PartitionStartTests.mark, from offset: Int64, _ reason: PartitionStart.Reason
        ) -> Case {
            Case(
                name, bounds, first: first, committed: nil, mark: nil, at: nil,
                former: .init(committed: 50, mark: mark, seenUntil: PartitionStartTests.committedAt), from: offset,
                reason)
        }
    }

    static let cases: [Case] = [
        Case("a group without an offset reads all", 10..<60, first: mark, committed: nil, from: 10, .fresh),
        Case("an empty topic without an offset", 0..<0, committed: nil, mark: nil, from: 0, .fresh),
        Case("an offset within the log", 10..<60, first: mark, from: 50, .resumed),
        Case("an offset at the log's end", 10..<50, first: mark, from: 50, .resumed),
        Case("an offset at the end of a log that retention emptied", 50..<50, from: 50, .resumed),
        Case("an offset of another tool within the log", 10..<60, first: mark, mark: nil, at: nil, from: 50, .resumed),
        Case(
            "retention took the marked record", 20..<60, first: LogMark(offset: 20, timestamp: 2_000), from: 50,
            .resumed),
        Case(
            "a record that has no timestamp", 10..<60, first: LogMark(offset: 10, timestamp: nil),
            mark: LogMark(offset: 10, timestamp: nil), from: 50, .resumed),
        // Deleted before they were read.
        Case(
            "retention overtook the group", 70..<90, first: LogMark(offset: 70, timestamp: 9_000), from: 70, .lost(20)),
        Case("everything was deleted", 70..<70, from: 70, .lost(20)),
        Case("one record was deleted", 51..<90, first: LogMark(offset: 51, timestamp: 9_000), from: 51, .lost(1)),
        // Truncated: what is retained was answered.
        Case("a log that ends before the offset", 10..<40, first: mark, from: 40, .beyondEnd),
        Case(
            "an offset of another tool beyond the end", 10..<40, first: mark, mark: nil, at: nil, from: 40, .beyondEnd),
        Case(
            "a log that ends before the offset, whose beginning retention took", 20..<40,
            first: LogMark(offset: 20, timestamp: 2_000), from: 40, .beyondEnd),
        Case("a log of which nothing is left", 0..<0, from: 0, .beyondEnd),
        Case("a log that ends before the offset, with records that nobody can read yet", 10..<40, from: 10, .beyondEnd),
        // Created again: nothing of it was answered.
        Case(
            "a new log that is shorter", 0..<5, first: LogMark(offset: 0, timestamp: 6_000), from: 0, .replaced),
        Case(
            "a new log that has grown beyond the offset", 0..<500, first: LogMark(offset: 0, timestamp: 6_000), from: 0,
            .replaced),
        Case(
            "a new log of a producer whose clock is behind", 0..<500, first: LogMark(offset: 0, timestamp: 500),
            from: 0, .replaced),
        Case(
            "a new log that begins at the marked offset", 10..<60, first: LogMark(offset: 10, timestamp: 6_000),
            from: 10, .replaced),
        Case(
            "a new log that lost its beginning already", 30..<60, first: LogMark(offset: 30, timestamp: 6_000),
            from: 30,
            .replaced),
        Case(
            "a restored copy with the same records", 10..<40, first: mark, from: 40, .beyondEnd),
        // Created again, and the group's offsets are gone with the old topic: this process alone knows.
        .forgotten(
            "a forgotten group's shorter log", 0..<5, first: LogMark(offset: 0, timestamp: 6_000), from: 0, .replaced),
        .forgotten(
            "a forgotten group's longer log", 0..<500, first: LogMark(offset: 0, timestamp: 6_000), from: 0, .replaced),
        .forgotten(
            "a forgotten group's log as long as before", 0..<50, first: LogMark(offset: 0, timestamp: 6_000), from: 0,
            .replaced),
        .forgotten(
            "a forgotten group's log that lost its beginning", 30..<60, first: LogMark(offset: 30, timestamp: 6_000),
            from: 30, .replaced),
        .forgotten("a forgotten group's empty log", 0..<0, from: 0, .replaced),
        .forgotten("a forgotten group's shorter log that nobody can read yet", 0..<5, from: 0, .replaced),
        .forgotten(
            "a forgotten group's shorter log of an unknown one", 0..<5, first: LogMark(offset: 0, timestamp: 6_000),
            mark: nil, from: 0, .replaced),
        // The same log, whose group was deleted or forgot: events are answered twice, which is to be told as such.
        .forgotten("the same log of a forgotten group", 10..<60, first: mark, from: 10, .fresh),
        .forgotten("the same log of a forgotten group, cut at its end", 10..<40, first: mark, from: 10, .fresh),
        .forgotten("the same log of a forgotten group, emptied by retention", 50..<50, from: 50, .fresh),
        .forgotten(
            "the same log of a forgotten group, overtaken by retention", 70..<90,
            first: LogMark(offset: 70, timestamp: 9_000), from: 70, .fresh),
        Case(
            "a partition that nothing was committed of", 0..<5, first: LogMark(offset: 0, timestamp: 6_000),
            committed: nil, mark: nil, at: nil, former: .init(mark: mark, seenUntil: committedAt), from: 0, .replaced),
        // Another worker read the new log already.
        Case(
            "a new log that the group goes on in", 0..<30, first: LogMark(offset: 0, timestamp: 6_000), committed: 20,
            mark: LogMark(offset: 0, timestamp: 6_000), at: UnixTime(milliseconds: 7_000),
            former: .init(committed: 50, mark: mark, seenUntil: committedAt), isOver: true, from: 20, .resumed),
        Case(
            "the log that this process had, and the group went back", 10..<60, first: mark, committed: 20,
            former: .init(committed: 50, mark: mark, seenUntil: committedAt), isOver: false, from: 20, .resumed),
    ]

    @Test(arguments: cases) func `a partition is read from the start that its facts give`(_ example: Case) {
        let start = PartitionStart(example.facts)
        #expect(start.offset == example.offset)
        #expect(start.reason == example.reason)
        #expect(start.isFormerOver == example.isFormerOver)
        // Whoever starts next finds what was decided, and neither tells it again nor passes anything over.
        #expect(start.isToBeCommitted == ![.fresh, .resumed].contains(example.reason))
        guard start.isToBeCommitted else { return }
        var next = example.facts
        (next.committed, next.mark) = (start.offset, example.facts.first)
        next.committedAt = UnixTime(milliseconds: 10_000)
        next.former = nil
        #expect(PartitionStart(next).reason == .resumed && PartitionStart(next).offset == start.offset)
        let bounds = next.bounds
        next.bounds = bounds.lowerBound..<(bounds.upperBound + 1_000)
        #expect(PartitionStart(next).reason == .resumed && PartitionStart(next).offset == start.offset)
        #expect(start.offset <= example.facts.bounds.upperBound && start.offset >= example.facts.bounds.lowerBound)
    }

    /// Whatever is known, no record of the log is passed over without a logged reason.
    @Test func `no start passes over a record in silence`() {
        let firsts = [nil, Self.mark, LogMark(offset: 0, timestamp: 6_000), LogMark(offset: 30, timestamp: nil)]
        for (low, high) in [(0, 0), (0, 5), (10, 40), (10, 60), (30, 60), (70, 90)] {
            for first in firsts {
                for committed in [nil, 0, 5, 50, 1_000] as [Int64?] {
                    let start = PartitionStart(
                        .init(
                            bounds: Int64(low)..<Int64(high), first: first, committed: committed, mark: Self.mark,
                            committedAt: Self.committedAt))
                    switch start.reason {
                    case .fresh, .lost, .replaced: #expect(start.offset == Int64(low))
                    case .resumed: #expect(start.offset == committed)
                    case .beyondEnd: #expect(start.offset == Int64(first == nil ? low : high))
                    }
                }
            }
        }
    }
}

@Suite("The marks of logs")
struct LogMarksTests {
    private let partition = TopicPartition(topic: "in", partition: 3)
    private let time = UnixTime(milliseconds: 5_000)

    private func record(_ offset: Int64, at milliseconds: Int64?) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: "in", partition: 3, offset: offset),
            timestamp: milliseconds.map { UnixTime(milliseconds: $0) }, key: nil, value: [], headers: [], lane: .live,
            tier: nil)
    }

    @Test func `the first record taken of an empty log is its mark, and later ones are not`() {
        var marks = LogMarks()
        marks.begin(partition, first: nil)
        marks.took([record(4, at: 7), record(5, at: 8)])
        marks.took([record(6, at: 9)])
        #expect(marks.all == [partition: LogMark(offset: 4, timestamp: 7)])
    }

    @Test func `a log with a mark keeps it, whatever records are taken`() {
        var marks = LogMarks()
        marks.begin(partition, first: LogMark(offset: 1, timestamp: 2))
        marks.took([record(40, at: 7)])
        #expect(marks.all == [partition: LogMark(offset: 1, timestamp: 2)])
    }

    @Test func `a mark follows retention`() {
        var marks = LogMarks()
        marks.begin(partition, first: LogMark(offset: 1, timestamp: 2))
        let later = LogMark(offset: 30, timestamp: 4_000)
        #expect(marks.replaced([partition: later], seenUntil: time) == [])
        #expect(marks.all == [partition: later])
    }

    @Test(arguments: [
        LogMark(offset: 0, timestamp: 1), LogMark(offset: 1, timestamp: 9), LogMark(offset: 7, timestamp: 6_000),
    ])
    func `a log that was created again is reported, and keeps its old mark`(_ first: LogMark) {
        var marks = LogMarks()
        let mark = LogMark(offset: 1, timestamp: 2)
        marks.begin(partition, first: mark)
        for _ in 0..<2 { #expect(marks.replaced([partition: first], seenUntil: time) == [partition]) }
        #expect(marks.all == [partition: mark])
    }

    @Test func `a partition that was given up keeps its former mark until it is read again`() {
        var marks = LogMarks()
        let mark = LogMark(offset: 1, timestamp: 2)
        marks.begin(partition, first: mark)
        #expect(marks.former(partition) == nil)
        marks.drop([partition])
        marks.drop([partition])
        #expect(marks.former(partition) == mark)
        marks.begin(partition, first: LogMark(offset: 0, timestamp: 9))
        #expect(marks.former(partition) == nil)
    }

    @Test func `a partition that was given up has no mark`() {
        var marks = LogMarks()
        marks.begin(partition, first: LogMark(offset: 1, timestamp: 2))
        marks.drop([partition])
        marks.took([record(40, at: 7)])
        #expect(marks.all.isEmpty)
        #expect(marks.replaced([partition: LogMark(offset: 0, timestamp: 1)], seenUntil: time) == [])
    }
}
