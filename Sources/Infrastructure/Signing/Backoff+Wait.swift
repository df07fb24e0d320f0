public import Pipeline

extension Backoff {
    /// Waits for the next pause, as long as `isWanted` returns true.
    ///
    /// - Returns: false where `isWanted` returned false.
    public mutating func wait(while isWanted: @Sendable () -> Bool) async -> Bool {
        let end = ContinuousClock.now + pause()
        while .now < end {
            guard isWanted(), !Task.isCancelled else { return false }
            // A cancellation cuts the sleep short and is looked at above.
            try? await Task.sleep(for: min(.milliseconds(100), end - .now))
        }
        return isWanted()
    }
}
