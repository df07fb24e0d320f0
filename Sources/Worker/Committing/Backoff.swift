/// Growing pauses: a quarter of a second, then twice as long each time, up to ten seconds or less.
struct Backoff: Sendable {
    private let most: Duration
    private var next = Duration.milliseconds(250)

    /// Pauses of up to `most`.
    init(atMost most: Duration = .seconds(10)) { self.most = most }

    /// The next pause.
    mutating func pause() -> Duration {
        defer { next = min(next * 2, most) }
        return next
    }

    /// Waits for the next pause, as long as `isWanted` says so.
    ///
    /// - Returns: false where it does not any more.
    mutating func wait(while isWanted: @Sendable () -> Bool) async -> Bool {
        let end = ContinuousClock.now + pause()
        while .now < end {
            guard isWanted(), !Task.isCancelled else { return false }
            // A cancellation cuts the sleep short and is looked at above.
            try? await Task.sleep(for: min(.milliseconds(100), end - .now))
        }
        return isWanted()
    }

    /// Begins anew.
    mutating func reset() { next = .milliseconds(250) }
}
