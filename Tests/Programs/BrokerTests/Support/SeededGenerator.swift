import AsyncTestSupport

extension SeededGenerator {
    /// A moment within `range`.
    mutating func moment(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &self))
    }
}

/// Lets `moment` pass: the moment of a kill or a stop is the subject of a story.
func pass(_ moment: Duration) async throws { try await Task.sleep(for: moment) }
