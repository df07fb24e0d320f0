import Kafka
import Testing

@testable import Pickup

/// The token topic's past, read in windows from the newest to the oldest.
@Suite struct PastWindowsTests {
    private static let partition = TopicPartition(topic: "t", partition: 0)

    /// Reads a log with records at `offsets`, as a consumer would: from the given offset on, until the next seek.
    private func read(_ offsets: [Int64], _ range: Range<Int64>, size: Int) -> (
        records: [Int64], windows: Int, largest: Int
    ) {
        var windows = PastWindows<Int64>(size: size)
        windows.add(Self.partition, range)
        var (found, count, largest): ([Int64], Int, Int) = ([], 0, 0)
        while let start = windows.begin(Self.partition) {
            count += 1
            var isOpen = true
            for offset in offsets where offset >= start && isOpen {
                switch windows.append(offset, at: offset, of: Self.partition) {
                case .reading: break
                case .tooLarge: isOpen = false
                case .ended:
                    let records = windows.end(Self.partition)
                    largest = max(largest, records.count)
                    found += records
                    isOpen = false
                }
            }
            // The end of the log.
            if isOpen { found += windows.end(Self.partition) }
        }
        #expect(windows.isEmpty)
        return (found, count, largest)
    }

    @Test(arguments: [1, 3, 10, 100, 1000])
    func `each record is handed on once, the newest first`(_ size: Int) {
        let all = Array(Int64(0)..<100)
        #expect(read(all, 0..<100, size: size).records == all.reversed())
        #expect(read(all, 17..<64, size: size).records == all[17..<64].reversed())
    }

    @Test func `marks of transactions and what compaction took leave no gap`() {
        let sparse = Array(stride(from: Int64(3), to: 5000, by: 97))
        let found = read(sparse, 0..<5000, size: 10)
        #expect(found.records == sparse.reversed())
        #expect(found.windows < 60, "windows grow where there is little: \(found.windows)")
    }

    @Test func `a window that has too many bytes is made smaller`() {
        let offsets = Array(Int64(0)..<2000) + Array(stride(from: Int64(2000), to: 100_000, by: 1000))
        let found = read(offsets, 0..<100_000, size: 10)
        #expect(found.records == offsets.reversed())
        #expect(found.largest <= 40, "\(found.largest)")
    }

    @Test func `an empty partition needs no window`() {
        #expect(read([], 5..<5, size: 10).windows == 0)
    }
}

/// Asks for unknown users, at a rate.
@Suite struct ColdBudgetTests {
    private static let start = ContinuousClock.now

    @Test func `a burst goes at once, the next ones wait for their turn, and the rest come later`() {
        var budget = ColdBudget(rate: 100)
        let turns = (0..<200).map { _ in budget.turn(at: Self.start, within: .seconds(1)) }
        #expect(turns.count { $0 == .now } == 21)
        #expect(turns[21] == .after(.milliseconds(10)))
        #expect(turns.count { if case .after = $0 { true } else { false } } == 100)
        #expect(turns[199] == .tooLate(.milliseconds(1010)))
        // What is refused takes no turn.
        let patient = budget.turn(at: Self.start, within: .seconds(2))
        let later = budget.turn(at: Self.start + .seconds(60), within: .zero)
        #expect(patient == .after(.milliseconds(1010)) && later == .now)
    }

    @Test func `a call that does not wait is served at once or refused`() {
        var budget = ColdBudget(rate: 10)
        let turns = (0..<5).map { _ in budget.turn(at: Self.start, within: .zero) }
        #expect(turns == [.now, .now, .now, .tooLate(.milliseconds(100)), .tooLate(.milliseconds(100))])
    }
}
