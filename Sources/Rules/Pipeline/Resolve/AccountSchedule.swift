import AdapterKit
import DequeModule

/// A request that may be sent as soon as the limits allow it.
struct PreparedLookup: Sendable {
    let app: App
    let request: LookupRequest
    let questions: [Question]
}

/// The schedule of one account's requests: the queued users, the rate limits and the circuit breaker.
struct AccountSchedule: Sendable {
    private(set) var account: LookupAccount
    var queue = LookupQueue()
    private(set) var limiter: RequestLimiter
    private(set) var breaker = CircuitBreaker()
    private var prepared: [PreparedLookup] = []
    private var lastBegin: UnixTime?
    /// The number of requests in a row that were refused for their rate without a time for the next one.
    private var throttles = 0
    private var throttling = Throttling()
    /// The last failure's detail; nil after a valid answer.
    private var lastFailure: String?
    /// The duration of a request, in microseconds: a moving average.
    private var latency: Int64 = 200_000

    /// The times for which a request waits to become full, in microseconds: for one user, for several users, and for
    /// more if further events are expected.
    private static let gathering = (alone: Int64(100_000), several: Int64(200_000), longer: Int64(10_000_000))

    init(_ account: LookupAccount) {
        self.account = account
        limiter = RequestLimiter(account)
    }

    /// Applies the limits of `account` from now on. Earlier requests still count.
    ///
    /// - Parameter isFixed: whether the endpoint or the credentials changed, so that earlier failures no longer count.
    mutating func apply(_ account: LookupAccount, isFixed: Bool) {
        self.account = account
        limiter.apply(account, isFixed: isFixed)
        guard isFixed else { return }
        breaker = CircuitBreaker()
        throttling = Throttling()
    }

    /// Removes the questions of apps for which `isGone` returns true.
    ///
    /// - Returns: the users of those questions.
    mutating func drop(of isGone: (App) -> Bool) -> [SubjectID] {
        let dropped = prepared.filter { isGone($0.app) }.flatMap { $0.questions.map(\.id) }
        prepared.removeAll { isGone($0.app) }
        return dropped + queue.drop(of: isGone)
    }

    /// Removes the oldest question of the app with the most waiting users.
    mutating func shedOldest() -> Question? {
        var counts: [String: Int] = [:]
        for lookup in prepared { counts[lookup.app.name, default: 0] += lookup.questions.count }
        return queue.shedOldest(beside: counts)
    }

    var waiting: Int { queue.count + prepared.reduce(0) { $0 + $1.questions.count } }

    /// Returns the expected time of an answer for the last user in the queue, at the vendor's rate.
    func expectation(at now: UnixTime) -> UnixTime {
        let requests = (max(1, queue.count) + account.batch - 1) / account.batch + prepared.count
        let opening = breaker.opening(at: now) ?? now
        return max(limiter.moment(forRequests: requests, at: now), opening).advanced(byMicroseconds: latency)
    }

    // MARK: Sending

    enum Next {
        case send(PreparedLookup)
        case prepare([Question], App)
        case wait(until: UnixTime)
        case nothing
    }

    /// Returns the next step.
    ///
    /// - Parameter isMoreComing: whether queued events may be about more users.
    mutating func next(at now: UnixTime, isMoreComing: Bool) -> Next {
        guard queue.count + prepared.count > 0, let opening = breaker.opening(at: now) else { return .nothing }
        guard opening <= now else { return .wait(until: opening) }
        switch limiter.opening(at: now) {
        case .now: break
        case .at(let moment): return .wait(until: moment)
        case .afterReply: return .nothing
        }
        guard prepared.isEmpty else { return .send(prepared.removeFirst()) }
        guard account.batch > 1 else { return offer(queue.take(1, at: now, alone: 0, several: 0, turn: now)) }
        let turn = lastBegin.map { min($0, now).advanced(byMicroseconds: limiter.pace) } ?? now
        let gathering = Self.gathering
        return offer(
            queue.take(
                account.batch, at: now, alone: isMoreComing ? gathering.longer : gathering.alone,
                several: isMoreComing ? gathering.longer : gathering.several, turn: turn))
    }

    private func offer(_ offer: LookupQueue.Offer) -> Next {
        switch offer {
        case .questions(let questions, let app): return .prepare(questions, app)
        case .wait(let moment): return .wait(until: moment)
        case .nothing: return .nothing
        }
    }

    mutating func append(_ lookup: PreparedLookup) { prepared.append(lookup) }

    mutating func began(at now: UnixTime) {
        limiter.begin()
        breaker.begin()
        lastBegin = now
    }

    // MARK: Replies

    /// Records that a request finished after `took` microseconds.
    mutating func ended(at now: UnixTime, took: Int64) {
        limiter.end(at: now)
        latency = (latency * 7 + took) / 8
    }

    /// Pauses for `length` microseconds, as the vendor requested, and for `RequestLimiter.longestPause` at most.
    mutating func pause(for length: Int64, at now: UnixTime) {
        limiter.pause(for: length, at: now)
        throttles = 0
    }

    /// Records a valid answer.
    ///
    /// - Returns: a notice for the operator, if the circuit closed.
    mutating func works(at now: UnixTime) -> LookupNotice? {
        throttles = 0
        lastFailure = nil
        let accepted = throttling.ended(at: now).map { LookupNotice.accepted(account: account.name, after: $0) }
        return breaker.succeeded(at: now).map { .closed(account: account.name, after: $0) } ?? accepted
    }

    /// Records that the vendor refused a request for its rate. The pauses grow if the vendor did not return a time.
    mutating func throttled(
        _ detail: String, at now: UnixTime, random: inout some RandomNumberGenerator
    ) -> LookupNotice? {
        lastFailure = detail
        let isLong = throttling.refused(at: now)
        let isPaused = limiter.pause(at: now).map { $0 > now } ?? false
        if !isPaused {
            throttles += 1
            let jitter = LookupBackoff.pause(before: throttles + 1, random: &random)
            limiter.pause(for: 1_000_000 + jitter, at: now)
        }
        // The vendor works, because it answered.
        return breaker.succeeded(at: now).map { .closed(account: account.name, after: $0) }
            ?? (isLong ? .throttled(account: account.name, detail: detail) : nil)
    }

    /// Returns the reason why the vendor answers no request; nil where it answers.
    func trouble(at now: UnixTime) -> String? {
        if throttling.isLong { return "the vendor refuses every request for its rate" }
        if breaker.state(at: now) == .closed { return nil }
        return lastFailure ?? "the circuit is open"
    }

    mutating func failed(
        _ failure: LookupFailure, at now: UnixTime, random: inout some RandomNumberGenerator
    ) -> LookupNotice? {
        lastFailure = failure.detail
        let isCertain = failure.kind == .misconfigured
        guard breaker.failed(at: now, isCertain: isCertain, random: &random) else { return nil }
        return .opened(account: account.name, detail: failure.detail)
    }
}

/// Exponential back-off with full jitter: a random pause below a limit that doubles.
enum LookupBackoff {
    /// The first limit and the longest, in microseconds.
    private static let bounds = (first: Int64(250_000), longest: Int64(30_000_000))

    static func pause(before attempt: Int, random: inout some RandomNumberGenerator) -> Int64 {
        let bound = min(bounds.longest, bounds.first << Int64(min(max(attempt - 1, 0), 10)))
        return Int64.random(in: 0...bound, using: &random)
    }
}

/// Stops requests to a failing vendor: after some failures in a row, the circuit opens for a pause, and then one
/// request tests the vendor. The pause doubles with each failed test.
struct CircuitBreaker: Sendable {
    /// The state of the circuit, for metrics.
    enum State: String, Sendable, CaseIterable {
        case closed
        case halfOpen = "half_open"
        case open
    }

    private enum Condition: Sendable {
        case closed(failures: Int)
        case open(until: UnixTime, times: Int)
        case probing(times: Int)
    }

    /// The number of failures in a row that opens the circuit.
    private static let failuresToOpen = 5
    /// The first and the longest pause, in microseconds.
    private static let whiles = (first: Int64(2_000_000), longest: Int64(30_000_000))

    private var condition = Condition.closed(failures: 0)
    /// The time of the first failure in a row; nil after a success.
    private var failingSince: UnixTime?

    func state(at now: UnixTime) -> State {
        switch condition {
        case .closed: .closed
        case .open(let until, _): until <= now ? .halfOpen : .open
        case .probing: .halfOpen
        }
    }

    /// Returns the time at which a request may begin; nil while a test request is in flight.
    func opening(at now: UnixTime) -> UnixTime? {
        switch condition {
        case .closed: now
        case .open(let until, _): until
        case .probing: nil
        }
    }

    mutating func begin() {
        if case .open(_, let times) = condition { condition = .probing(times: times) }
    }

    /// Records a success.
    ///
    /// - Returns: the time since the first failure, in microseconds, if this closed the circuit; nil otherwise.
    mutating func succeeded(at now: UnixTime) -> Int64? {
        let length = failingSince.map { max(0, now.microseconds(since: $0)) } ?? 0
        failingSince = nil
        defer { condition = .closed(failures: 0) }
        if case .closed = condition { return nil }
        return length
    }

    /// Records a failure.
    ///
    /// - Parameter isCertain: whether the next request would fail too, so that the circuit opens at once.
    /// - Returns: whether this opened the circuit.
    mutating func failed(
        at now: UnixTime, isCertain: Bool, random: inout some RandomNumberGenerator
    ) -> Bool {
        if failingSince == nil { failingSince = now }
        switch condition {
        case .closed(let failures):
            guard isCertain || failures + 1 >= Self.failuresToOpen else {
                condition = .closed(failures: failures + 1)
                return false
            }
            open(at: now, times: 0, random: &random)
            return true
        // A request that was in flight when the circuit opened.
        case .open: return false
        case .probing(let times):
            open(at: now, times: times + 1, random: &random)
            return false
        }
    }

    private mutating func open(at now: UnixTime, times: Int, random: inout some RandomNumberGenerator) {
        let longest = min(Self.whiles.longest, Self.whiles.first << Int64(min(times, 10)))
        // Many workers must not return at the same time.
        let length = Int64.random(in: (longest / 2)...longest, using: &random)
        condition = .open(until: now.advanced(byMicroseconds: length), times: times)
    }
}

/// A time in which the vendor refuses every request for its rate. A single refusal is usual, and no trouble.
struct Throttling: Sendable {
    /// The time after which refusals without an answer are trouble, in microseconds.
    private static let longest: Int64 = 5_000_000

    private var since: UnixTime?
    /// Whether the refusals have lasted for long enough to be reported.
    private(set) var isLong = false

    /// Records a refusal.
    ///
    /// - Returns: whether this one makes the time too long.
    mutating func refused(at now: UnixTime) -> Bool {
        let start = since ?? now
        since = start
        guard !isLong, now.microseconds(since: start) >= Self.longest else { return false }
        isLong = true
        return true
    }

    /// Records an answer.
    ///
    /// - Returns: the length of the time, in microseconds, if it was reported; nil otherwise.
    mutating func ended(at now: UnixTime) -> Int64? {
        defer { self = Throttling() }
        return isLong ? since.map { max(0, now.microseconds(since: $0)) } : nil
    }
}

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

    enum Opening: Equatable {
        case now
        case at(UnixTime)
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
