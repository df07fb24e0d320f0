/// A rest of a job that an operator's step ends early.
enum WatchedRest {
    /// The time after which a pause, or a campaign that takes over, is noticed.
    private static let interval = Duration.seconds(1)

    /// Waits until `end`, and asks `mayContinue` each second.
    ///
    /// - Returns: false where `mayContinue` cut the wait short.
    /// - Throws: the error of `mayContinue`, or `CancellationError`.
    static func until(_ end: ContinuousClock.Instant, while mayContinue: () throws -> Bool) async throws -> Bool {
        while true {
            let left = end - ContinuousClock.now
            guard left > .zero else { return true }
            try await Task.sleep(for: min(left, interval))
            guard left > interval else { continue }
            guard try mayContinue() else { return false }
        }
    }
}
