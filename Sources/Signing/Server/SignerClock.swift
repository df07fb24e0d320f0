import AdapterKit

/// The times a signer goes by. Tests have others.
struct SignerClock: Sendable {
    /// The time between two searches for connections that are silent for too long.
    static let round = Duration.seconds(1)
    /// The time between two reports of signatures.
    static let reportInterval = Duration.seconds(60)

    /// The time of day, which tokens' ends are held against.
    var now: @Sendable () -> UnixTime
    /// The time for which the signer has run; it only grows.
    var uptime: @Sendable () -> Duration
    /// Waits for so long, or throws where the task was cancelled.
    var sleep: @Sendable (Duration) async throws -> Void

    /// The machine's clocks.
    static func system(now: @escaping @Sendable () -> UnixTime) -> SignerClock {
        let start = ContinuousClock.now
        return SignerClock(
            now: now, uptime: { ContinuousClock.now - start }, sleep: { try await Task.sleep(for: $0) })
    }
}
