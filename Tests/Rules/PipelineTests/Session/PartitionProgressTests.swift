import AsyncTestSupport
import Pipeline
import Testing

/// The operations on one partition's offsets, and the offset that may be committed after each.
struct Interleaving: CustomTestStringConvertible, Sendable {
    enum Step: Sendable {
        case begin(Int64), take(Int64), finish(Int64), reach(Int64), commit, drop
    }

    let testDescription: String
    let steps: [Step]
    let committable: Int64?
    let isOpen: Bool

    init(_ name: String, _ steps: [Step], commits committable: Int64?, open isOpen: Bool) {
        testDescription = name
        self.steps = steps
        self.committable = committable
        self.isOpen = isOpen
    }
}

@Suite("Offsets that may be committed")
struct PartitionProgressTests {
    private static let partition = TopicPartition(topic: "t", partition: 0)

    private static func origin(_ offset: Int64, _ partition: Int32 = 0) -> RecordPosition {
        RecordPosition(topic: "t", partition: partition, offset: offset)
    }

    static let interleavings: [Interleaving] = [
        Interleaving("nothing", [], commits: nil, open: false),
        Interleaving("one taken", [.take(0)], commits: nil, open: true),
        Interleaving("one finished", [.take(0), .finish(0)], commits: 1, open: false),
        Interleaving("the second before the first", [.take(0), .take(1), .finish(1)], commits: nil, open: true),
        Interleaving("then the first", [.take(0), .take(1), .finish(1), .finish(0)], commits: 2, open: false),
        Interleaving(
            "a gap in the middle", [.take(0), .take(1), .take(2), .finish(0), .finish(2)], commits: 1, open: true),
        Interleaving(
            "last to first", [.take(4), .take(5), .take(6), .finish(6), .finish(5), .finish(4)], commits: 7, open: false
        ),
        Interleaving(
            "offsets with holes, as compaction leaves them", [.take(3), .take(90), .finish(3)], commits: 4, open: true),
        Interleaving("both beside a hole", [.take(3), .take(90), .finish(90), .finish(3)], commits: 91, open: false),
        Interleaving("committed once", [.take(0), .finish(0), .commit], commits: nil, open: false),
        Interleaving("and moved on", [.take(0), .finish(0), .commit, .take(1), .finish(1)], commits: 2, open: false),
        Interleaving(
            "committed while one is open", [.take(0), .take(1), .finish(0), .commit], commits: nil, open: true),
        Interleaving("finished twice", [.take(0), .finish(0), .finish(0), .take(1)], commits: 1, open: true),
        Interleaving("finished and never taken, with no partition", [.finish(0)], commits: nil, open: false),
        Interleaving("finished and never taken, behind an open one", [.take(0), .finish(7)], commits: nil, open: true),
        Interleaving("dropped", [.take(0), .finish(0), .drop], commits: nil, open: false),
        Interleaving("dropped while open", [.take(0), .take(1), .finish(0), .drop], commits: nil, open: false),
        Interleaving("a late finish after the drop", [.take(0), .drop, .finish(0)], commits: nil, open: false),
        Interleaving(
            "taken again after the drop", [.take(5), .finish(5), .commit, .drop, .take(5)], commits: nil, open: true),
        Interleaving(
            "a rewind after the drop",
            [.take(5), .take(6), .finish(5), .finish(6), .commit, .drop, .take(5), .finish(5)], commits: 6, open: false),
        Interleaving("a partition that begins", [.begin(5)], commits: nil, open: false),
        Interleaving("one that is at its end", [.begin(5), .reach(5)], commits: nil, open: false),
        Interleaving("a mark before the end", [.begin(5), .reach(6)], commits: 6, open: false),
        Interleaving(
            "a mark behind the last record", [.begin(5), .take(5), .finish(5), .reach(7)], commits: 7, open: false),
        Interleaving(
            "the end before the last one is finished", [.begin(5), .take(5), .reach(7)], commits: nil, open: true),
        Interleaving("and after it", [.begin(5), .take(5), .reach(7), .finish(5)], commits: 7, open: false),
        Interleaving(
            "an end behind two, of which the second is finished",
            [.begin(5), .take(5), .take(6), .reach(8), .finish(6)], commits: nil, open: true),
        Interleaving(
            "records behind an earlier end", [.begin(5), .reach(6), .take(6), .take(7), .finish(6)], commits: 7,
            open: true),
        Interleaving(
            "a mark that is committed", [.begin(5), .reach(6), .commit, .reach(6)], commits: nil, open: false),
        Interleaving("an earlier end", [.begin(5), .reach(9), .commit, .reach(7)], commits: nil, open: false),
        Interleaving("the end of a partition that is gone", [.begin(5), .drop, .reach(9)], commits: nil, open: false),
        Interleaving(
            "a partition that comes back", [.begin(5), .reach(6), .drop, .begin(9)], commits: nil, open: false),
        Interleaving(
            "the largest offset there is before the last", [.take(.max - 1), .finish(.max - 1)], commits: .max,
            open: false),
    ]

    @Test(arguments: interleavings)
    func `the committable offset is the end of an unbroken run`(_ interleaving: Interleaving) {
        var progress = PartitionProgress()
        for step in interleaving.steps {
            switch step {
            case .begin(let offset): progress.began(Self.partition, at: offset)
            case .reach(let end): progress.reached(end, of: Self.partition)
            case .take(let offset): progress.taken(Self.origin(offset))
            case .finish(let offset): progress.finished(Self.origin(offset))
            case .commit: progress.committed(progress.committable)
            case .drop: progress.dropped([Self.partition])
            }
        }
        #expect(progress.committable[Self.partition] == interleaving.committable)
        #expect(progress.hasOpenInputs == interleaving.isOpen)
    }

    @Test func `partitions and topics go their own ways`() {
        var progress = PartitionProgress()
        for partition: Int32 in 0..<3 {
            progress.taken(Self.origin(10, partition))
            progress.taken(Self.origin(11, partition))
        }
        progress.taken(RecordPosition(topic: "u", partition: 0, offset: 10))
        progress.finished(Self.origin(10, 1))
        progress.finished(Self.origin(11, 2))
        progress.finished(RecordPosition(topic: "u", partition: 0, offset: 10))
        #expect(progress.committable == [.init(topic: "t", partition: 1): 11, .init(topic: "u", partition: 0): 11])
        progress.dropped([.init(topic: "t", partition: 1)])
        #expect(progress.committable == [.init(topic: "u", partition: 0): 11])
        #expect(progress.hasOpenInputs)
    }

    @Test func `an offset committed for a partition that is gone changes nothing`() {
        var progress = PartitionProgress()
        progress.committed([Self.partition: 5])
        #expect(progress.committable.isEmpty)
    }

    @Test func `random steps never commit past an unfinished input`() throws {
        var generator = SeededGenerator(seed: 99)
        var progress = PartitionProgress()
        var model = [Int32: PartitionModel]()
        for step in 0..<Scale.rounds(100_000) {
            let partition = Int32.random(in: 0..<4, using: &generator)
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<45:
                let offset = model[partition, default: .init()].take(using: &generator)
                progress.taken(Self.origin(offset, partition))
            case 45..<92:
                guard let offset = model[partition]?.finish(using: &generator) else { continue }
                progress.finished(Self.origin(offset, partition))
            case 92..<99:
                let committable = progress.committable
                for (partition, offset) in committable { model[partition.partition]?.committed = offset }
                progress.committed(committable)
                try #require(progress.committable.isEmpty)
            default:
                progress.dropped([.init(topic: "t", partition: partition)])
                model[partition]?.drop()
            }
            let expected = model[partition]?.committable
            guard progress.committable[.init(topic: "t", partition: partition)] == expected else {
                Issue.record("step \(step): \(progress.committable), expected \(String(describing: expected))")
                return
            }
            guard progress.hasOpenInputs != model.values.contains(where: { !$0.open.isEmpty }) else { continue }
            Issue.record("step \(step): wrong about open inputs")
            return
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a long run finished from its end costs no more than one from its start`() {
        var progress = PartitionProgress()
        for offset: Int64 in 0..<200_000 { progress.taken(Self.origin(offset)) }
        for offset: Int64 in stride(from: 199_999, through: 0, by: -1) { progress.finished(Self.origin(offset)) }
        #expect(progress.committable == [Self.partition: 200_000])
        for offset: Int64 in 200_000..<400_000 {
            progress.taken(Self.origin(offset))
            progress.finished(Self.origin(offset))
        }
        #expect(progress.committable == [Self.partition: 400_000])
    }
}

/// The same in the plainest way: every input since the partition was assigned.
private struct PartitionModel {
    var next: Int64 = 0
    var all: [Int64] = []
    var open: [Int64] = []
    var committed: Int64?

    /// The end of everything before the first open input, where that is news.
    var committable: Int64? {
        let done = open.min().map { first in all.last { $0 < first } } ?? all.last
        guard let end = done.map({ $0 + 1 }), end != committed else { return nil }
        return end
    }

    mutating func take(using generator: inout SeededGenerator) -> Int64 {
        let offset = next + (Int.random(in: 0..<10, using: &generator) == 0 ? 3 : 0)
        next = offset + 1
        all.append(offset)
        open.append(offset)
        return offset
    }

    mutating func finish(using generator: inout SeededGenerator) -> Int64? {
        guard !open.isEmpty else { return nil }
        return open.remove(at: .random(in: 0..<min(open.count, 30), using: &generator))
    }

    /// Continues at the committed offset, as after a rebalance.
    mutating func drop() { self = PartitionModel(next: committed ?? 0) }
}
