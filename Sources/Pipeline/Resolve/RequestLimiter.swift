import AdapterKit
import DequeModule

/// Keeps an account within its vendor's limits, whatever the network does to the time a request arrives.
///
/// A request arrives at some moment between its beginning and its end. So it is counted from the one until a whole window
/// after the other: then no window of the vendor's, wherever it begins, sees more than its limit.
struct RequestLimiter: Sendable {
    private struct Window: Sendable {
        let requests: Int
        let length: Int64
    }

    private var windows: [Window]
    private var concurrency: Int
    /// When the latest requests ended, in order; as many as the largest window allows.
    private var ended: Deque<UnixTime> = []
    private(set) var inFlight = 0
    /// Until when the vendor asked not to be asked.
    private var pausedUntil: UnixTime?
    /// The longest time that a vendor's word keeps its account from being asked, in microseconds: five minutes. One wrong header must not
    /// stop all look-ups for as long as it says; where it was right, the next answer says so again.
    static let longestPause: Int64 = 300 * 1_000_000

    init(_ account: LookupAccount) {
        windows = Self.windows(account)
        concurrency = account.concurrency
    }

    /// Goes on within the limits of `account`. What was asked counts on.
    ///
    /// - Parameter isMended: whether it is asked elsewhere or with something else, whom nobody asked to pause.
    mutating func goOn(as account: LookupAccount, isMended: Bool) {
        if isMended { pausedUntil = nil }
        windows = Self.windows(account)
        concurrency = account.concurrency
    }

    private static func windows(_ account: LookupAccount) -> [Window] {
        account.rates.map { Window(requests: $0.requests, length: Int64($0.seconds) * 1_000_000) }
    }

    /// When the next request may begin.
    enum Opening: Equatable {
        case now
        case at(UnixTime)
        /// Once one that is under way has ended.
        case afterReply
    }

    func opening(at now: UnixTime) -> Opening {
        guard inFlight < concurrency else { return .afterReply }
        var moment = pause(at: now) ?? now
        for window in windows {
            let left = window.requests - inFlight
            guard left > 0 else { return .afterReply }
            // Of those that ended, the one that must have left the window.
            guard ended.count >= left else { continue }
            moment = max(moment, ended[ended.count - left].advanced(byMicroseconds: window.length))
        }
        return moment <= now ? .now : .at(moment)
    }

    /// About when the last of `count` more requests may begin.
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

    /// How far apart requests are at the vendor's steady pace, in microseconds.
    var pace: Int64 { windows.map { $0.length / Int64($0.requests) }.max() ?? 0 }

    mutating func begin() { inFlight += 1 }

    mutating func end(at now: UnixTime) {
        inFlight = max(0, inFlight - 1)
        // A clock that was set back must not shut the vendor out for as long.
        ended.removeAll { $0 > now }
        ended.append(now)
        let most = windows.map(\.requests).max() ?? 0
        if ended.count > most { ended.removeFirst(ended.count - most) }
    }

    /// Notes that the vendor asks for no requests for `length` microseconds, of which `longestPause` count.
    mutating func pause(for length: Int64, at now: UnixTime) {
        let moment = now.advanced(byMicroseconds: min(max(0, length), Self.longestPause))
        pausedUntil = max(moment, pause(at: now) ?? moment)
    }

    /// The end of the time for which the vendor asked for no requests; nil where it asked for none.
    func pause(at now: UnixTime) -> UnixTime? {
        // A clock that was set back must not make the pause longer.
        pausedUntil.map { min($0, now.advanced(byMicroseconds: Self.longestPause)) }
    }
}
