public import Formats

/// The time of the next fetch of a token, as a value.
///
/// A token is replaced after 70 to 80 % of its life: before librdkafka itself would ask, which it does after 80 %, and
/// not in step with other workers that got theirs in the same second. A failed fetch is retried after a second, then
/// after twice as long each time, up to half a minute. The previous token stays in use as long as it lives.
public struct TokenSchedule: Sendable {
    /// The action that is due.
    public enum Action: Sendable, Equatable {
        /// Get a token, and record the result.
        case fetch
        /// Do nothing before this moment.
        case wait(until: UnixTime)
    }

    /// The least time between two fetches that went well, in seconds: for tokens that hardly live.
    static let leastPause = 1.0
    /// The pause after a first failure, in seconds.
    static let firstPause = 1.0
    /// The longest pause after failures, in seconds.
    static let longestPause = 30.0

    /// The moment of the next fetch; nil for at once.
    private var due: UnixTime?
    /// The end of the last token's life; nil before the first.
    private var expiry: UnixTime?
    private var failures = 0

    /// A schedule without a token.
    public init() {}

    /// A schedule that continues with a token of an earlier run, which expires at `expiry`.
    ///
    /// - Parameter draw: a random number from 0 to 1.
    public init(holding expiry: UnixTime, at now: UnixTime, draw: Double) {
        obtained(expiry: expiry, at: now, draw: draw)
        if expiry <= now { due = nil }
    }

    /// Returns the action that is due at `now`.
    public func next(at now: UnixTime) -> Action {
        guard let due, due > now else { return .fetch }
        return .wait(until: due)
    }

    /// Returns whether there is a token that has not expired.
    public func hasToken(at now: UnixTime) -> Bool { expiry.map { $0 > now } ?? false }

    /// Records a new token, which ends at `expiry`.
    ///
    /// - Parameter draw: a random number from 0 to 1.
    public mutating func obtained(expiry: UnixTime, at now: UnixTime, draw: Double) {
        failures = 0
        self.expiry = expiry
        let life = Double(expiry.microseconds(since: now)) / 1e6
        let share = 0.8 - 0.1 * min(max(draw, 0), 1)
        wait(max(Self.leastPause, life * share), from: now)
    }

    /// Records a fetch without a token.
    ///
    /// - Parameter draw: a random number from 0 to 1.
    public mutating func failed(at now: UnixTime, draw: Double) {
        let pause = min(Self.longestPause, Self.firstPause * Double(1 << min(failures, 10)))
        failures = min(failures + 1, 10)
        // A quarter less at most, so that those who failed together do not all come back together.
        wait(pause * (1 - 0.25 * min(max(draw, 0), 1)), from: now)
    }

    /// Makes a fetch due at once, because the source has another token.
    public mutating func changed() { due = nil }

    private mutating func wait(_ seconds: Double, from now: UnixTime) {
        due = now.advanced(byMicroseconds: Int64(min(seconds, 1e9) * 1e6))
    }
}
