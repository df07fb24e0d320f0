import AdapterKit

/// The times and clocks of a signer. Tests use other ones.
struct SignerClock: Sendable {
    /// The time between two searches for connections that are silent for too long.
    static let round = Duration.seconds(1)
    /// The time between two reports of signatures.
    static let reportInterval = Duration.seconds(60)

    /// The time of day, by which tokens' ends are judged.
    var now: @Sendable () -> UnixTime
    /// The time for which the signer has run; it only grows.
    var uptime: @Sendable () -> Duration
    /// Waits for a time, or throws where the task was canceled.
    var sleep: @Sendable (Duration) async throws -> Void

    /// Returns the machine's clocks.
    static func system(now: @escaping @Sendable () -> UnixTime) -> SignerClock {
        let start = ContinuousClock.now
        return SignerClock(
            now: now, uptime: { ContinuousClock.now - start }, sleep: { try await Task.sleep(for: $0) })
    }
}
