import Testing

@testable import Worker

@Suite("Counting a few different things")
struct TallyTests {
    @Test func `counts are what a dictionary counts, in any order`() {
        var tally = Tally<Int>()
        var expected: [[String]: Int] = [:]
        for number in [1, 1, 2, 1, 3, 3, 2, 2, 2, 1] {
            tally.count(number)
            expected[[String(number)], default: 0] += 1
        }
        #expect(sums(tally) { [String($0)] } == expected)
        #expect(sums(tally) { $0 == 2 ? ["two"] : nil } == [["two"]: 4])
        #expect(sums(tally) { _ in ["all"] } == [["all"]: 10])
    }

    @Test func `a thousand kinds in turns are counted each`() {
        var tally = Tally<Int>()
        for number in 0..<3000 { tally.count(number % 1000) }
        let counts = tally.counts { [String($0)] }
        #expect(counts.count == 1000)
        #expect(counts.allSatisfy { $0.value == 3 })
    }

    @Test func `counts from before a reset are not counted again`() {
        var tally = Tally<Int>()
        for number in [1, 2, 2] { tally.count(number) }
        tally.reset()
        #expect(tally.counts { [String($0)] }.isEmpty)
        for number in [2, 3] { tally.count(number) }
        #expect(sums(tally) { [String($0)] } == [["2"]: 1, ["3"]: 1])
    }

    private func sums(_ tally: Tally<Int>, _ labels: (Int) -> [String]?) -> [[String]: Int] {
        tally.counts(labels).reduce(into: [:]) { $0[$1.key, default: 0] += $1.value }
    }
}
