import AdapterKit
import Synchronization
import Wiring

/// A reported failure that a token ends, and whether a device was handed the token yet. All copies of a token share
/// one.
final class Recovery: Sendable {
    /// The time after its publication for which a token's first hand-over shows the length of the failure, in
    /// microseconds. A device that comes later was away, or had the token already from another instance.
    static let window: Int64 = 300_000_000

    private let reportedAt: UnixTime
    private let publishedAt: UnixTime
    private let isOver = Atomic(false)

    /// - Parameters:
    ///   - reportedAt: the time of the first report that the token answers.
    ///   - version: the token's version, which is its time in microseconds since 1970.
    init(reportedAt: UnixTime, version: Int64) {
        self.reportedAt = reportedAt
        publishedAt = UnixTime(microseconds: version)
    }

    /// Notes that a device is handed the token.
    ///
    /// - Returns: the length of the failure, in seconds; nil from the second time on, and where the token is too old to
    ///   show it.
    func end(at now: UnixTime) -> Double? {
        guard now.microseconds(since: publishedAt) <= Self.window,
            isOver.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return nil }
        return RecoveryTime.seconds(from: reportedAt, to: now)
    }
}
