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
        #expect(tally.counts { [String($0)] } == expected)
        #expect(tally.counts { $0 == 2 ? ["two"] : nil } == [["two"]: 4])
        #expect(tally.counts { _ in ["all"] } == [["all"]: 10])
    }
}
