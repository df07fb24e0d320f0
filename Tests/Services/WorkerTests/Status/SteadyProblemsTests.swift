import Testing

@testable import Worker

@Suite("Problems that come and go")
struct SteadyProblemsTests {
    /// Sets the problem at each time, and returns whether it counts at each second of `range`.
    private func shown(
        _ changes: [(second: Int, problem: String?)], isFault: Bool = true, in range: Range<Int>
    ) -> [Bool] {
        range.map { second in
            var problems = SteadyProblems<Int>()
            for change in changes where change.second <= second {
                problems.set(1, change.problem, isFault: isFault, at: .seconds(change.second))
            }
            return problems.all(at: .seconds(second))[1] != nil
        }
    }

    @Test func `a problem ends at once until it has come back twice within half a minute`() {
        let changes: [(second: Int, problem: String?)] = [
            (0, "a"), (5, nil), (34, "b"), (35, nil), (60, "c"), (61, nil),
        ]
        let found = shown(changes, in: 0..<100)
        let expected = (0..<100).map { (0..<5).contains($0) || $0 == 34 || (60..<91).contains($0) }
        #expect(found == expected)
    }

    @Test func `a worker that flips every few seconds changes its readiness once`() {
        let changes: [(second: Int, problem: String?)] = (0..<40).map { ($0 * 3, $0.isMultiple(of: 2) ? "a" : nil) }
        let found = shown(changes, in: 12..<140)
        #expect(found.allSatisfy { $0 })
    }

    @Test func `a decision of an operator ends at once, however often it is made`() {
        let changes: [(second: Int, problem: String?)] = (0..<20).map { ($0, $0.isMultiple(of: 2) ? "quiet" : nil) }
        #expect(shown(changes, isFault: false, in: 0..<20) == (0..<20).map { $0.isMultiple(of: 2) })
    }

    @Test func `the text shows that a problem is over and still counts`() {
        var problems = SteadyProblems<Int>()
        for second in 0..<6 { problems.set(1, second.isMultiple(of: 2) ? "no" : nil, at: .seconds(second)) }
        #expect(problems.all(at: .seconds(9)) == [1: "no (over for 4s; it comes and goes)"])
        #expect(problems.present(1) == nil)
    }

    @Test func `a problem that changes its words keeps its begin`() {
        var problems = SteadyProblems<WorkerStatus.Dependency>()
        for (isFault, offset) in [(true, 0), (false, 100)] {
            problems.set(.worker, "it is starting", isFault: isFault, at: .seconds(offset + 5))
            problems.set(.worker, "it is stopping", isFault: isFault, at: .seconds(offset + 9))
            #expect(problems.begins(at: .seconds(offset + 9)) == [.worker: .seconds(offset + 5)])
            problems.set(.worker, nil, isFault: isFault, at: .seconds(offset + 10))
            #expect(problems.begins(at: .seconds(offset + 10)).isEmpty)
        }
    }
}
