import AdapterKit
import DequeModule

/// Keeps an account within its vendor's limits, regardless of network delays.
///
/// A request arrives at some time between its beginning and its end. So it counts from its beginning until a whole
/// window after its end. Then no window of the vendor, wherever it begins, contains more requests than the limit.
struct RequestLimiter: Sendable {
    private struct Window: Sendable {
        let requests: Int
        let length: Int64
    }

    private var windows: [Window]
    private var concurrency: Int
    /// The ends of the latest requests, in order; as many as the largest window allows.
    private var ended: Deque<UnixTime> = []
    private(set) var inFlight = 0
    /// The end of the pause that the vendor requested.
    private var pausedUntil: UnixTime?
    /// The longest pause that a vendor's header can cause, in microseconds: five minutes. One wrong header must not
    /// stop all look-ups for longer. If the header was right, the next answer repeats it.
    static let longestPause: Int64 = 300 * 1_000_000

    init(_ account: LookupAccount) {
        windows = Self.windows(account)
        concurrency = account.concurrency
    }

    /// Applies the limits of `account` from now on. Earlier requests still count.
    ///
    /// - Parameter isFixed: whether the endpoint or the credentials changed, so that the vendor's pause no longer
    ///   applies.
    mutating func apply(_ account: LookupAccount, isFixed: Bool) {
        if isFixed { pausedUntil = nil }
        windows = Self.windows(account)
        concurrency = account.concurrency
    }

    private static func windows(_ account: LookupAccount) -> [Window] {
        account.rates.map { Window(requests: $0.requests, length: Int64($0.seconds) * 1_000_000) }
    }

    /// The time of the next request.
    enum Opening: Equatable {
        case now
        case at(UnixTime)
        /// After a request in flight has finished.
        case afterReply
    }

    func opening(at now: UnixTime) -> Opening {
        guard inFlight < concurrency else { return .afterReply }
        var moment = pause(at: now) ?? now
        for window in windows {
            let left = window.requests - inFlight
            guard left > 0 else { return .afterReply }
            // Of the finished requests, the one that must have left the window.
            guard ended.count >= left else { continue }
            moment = max(moment, ended[ended.count - left].advanced(byMicroseconds: window.length))
        }
        return moment <= now ? .now : .at(moment)
    }

    /// Returns the approximate time at which the last of `count` more requests may begin.
    func moment(forRequests count: Int, at now: UnixTime) -> UnixTime {
        var moment = max(now, pause(at: now) ?? now)
        for window in windows {
            let used = inFlight + ended.count { now.microseconds(since: $0) < window.length }
            let extra = count - max(0, window.requests - used)
            guard extra > 0 else { continue }
            let rounds = Int64((extra + window.requests - 1) / window.requests)
            moment = max(moment, now.advanced(byMicroseconds: rounds * window.length))
        }
        return moment
    }

    /// The interval between requests at the vendor's steady rate, in microseconds.
    var pace: Int64 { windows.map { $0.length / Int64($0.requests) }.max() ?? 0 }

    mutating func begin() { inFlight += 1 }

    mutating func end(at now: UnixTime) {
        inFlight = max(0, inFlight - 1)
        // A clock that was set back must not block requests for that long.
        ended.removeAll { $0 > now }
        ended.append(now)
        let most = windows.map(\.requests).max() ?? 0
        if ended.count > most { ended.removeFirst(ended.count - most) }
    }

    /// Pauses for `length` microseconds, as the vendor requested, and for `longestPause` at most.
    mutating func pause(for length: Int64, at now: UnixTime) {
        let moment = now.advanced(byMicroseconds: min(max(0, length), Self.longestPause))
        pausedUntil = max(moment, pause(at: now) ?? moment)
    }

    /// Returns the end of the pause that the vendor requested; nil if it requested none.
    func pause(at now: UnixTime) -> UnixTime? {
        // A clock that was set back must not make the pause longer.
        pausedUntil.map { min($0, now.advanced(byMicroseconds: Self.longestPause)) }
    }
}
