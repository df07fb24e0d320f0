import Testing

@testable import Operations

/// Tests of a job's rate and of the time left.
@Suite struct ProgressPaceTests {
    private let start = ContinuousClock.now

    private func words(_ steps: (done: Int, total: Int, seconds: Double)...) -> [String] {
        var pace = ProgressPace()
        return steps.map { pace.words($0.done, of: $0.total, at: start + .seconds($0.seconds)) }
    }

    @Test func `a job has a rate and a time left after a second`() {
        #expect(
            words((0, 1000, 0), (40, 1000, 0.5), (100, 1000, 1), (500, 1000, 10)) == [
                "", "", ", 100/s, 9s left", ", 50/s, 10s left",
            ])
    }

    @Test func `a job that was continued is measured from its first step on`() {
        #expect(words((900, 1000, 0), (950, 1000, 10)).last == ", 5.0/s, 10s left")
    }

    @Test func `a finished job has a rate alone, and a standing one has none`() {
        #expect(words((0, 10, 0), (10, 10, 1)).last == ", 10/s")
        #expect(words((0, 10, 0), (0, 10, 100)).last == "")
    }

    @Test func `another total or a smaller number begins another job`() {
        #expect(words((0, 10, 0), (5, 20, 5), (10, 20, 10)).last == ", 1.0/s, 10s left")
        #expect(words((5, 10, 0), (1, 10, 5), (6, 10, 10)).last == ", 1.0/s, 4s left")
    }
}
