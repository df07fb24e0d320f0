import Wiring
import AdapterKit
import Synchronization

/// What a token ends: a failure that somebody reported, and whether its device was handed the token yet. All copies of a token share
/// one.
final class Recovery: Sendable {
    /// For how long after its publication a token's first hand-over says how long the failure lasted, in microseconds. A device that
    /// comes later was away, or had the token already from another instance.
    static let patience: Int64 = 300_000_000

    private let reportedAt: UnixTime
    private let publishedAt: UnixTime
    private let isOver = Atomic(false)

    /// - Parameters:
    ///   - reportedAt: when the first report that the token answers was made.
    ///   - version: the token's, which is its moment in microseconds since 1970.
    init(reportedAt: UnixTime, version: Int64) {
        self.reportedAt = reportedAt
        publishedAt = UnixTime(microseconds: version)
    }

    /// A device is handed the token.
    ///
    /// - Returns: how long the failure lasted, in seconds; nil from the second time on, and where the token is too old to say so.
    func end(at now: UnixTime) -> Double? {
        guard now.microseconds(since: publishedAt) <= Self.patience,
            isOver.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return nil }
        return RecoveryTime.seconds(from: reportedAt, to: now)
    }
}
