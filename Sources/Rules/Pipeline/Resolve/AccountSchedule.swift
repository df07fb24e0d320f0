import AdapterKit

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

    /// The number of waiting users.
    var waiting: Int { queue.count + prepared.reduce(0) { $0 + $1.questions.count } }

    /// Returns the expected time of an answer for the last user in the queue, at the vendor's rate.
    func expectation(at now: UnixTime) -> UnixTime {
        let requests = (max(1, queue.count) + account.batch - 1) / account.batch + prepared.count
        let opening = breaker.opening(at: now) ?? now
        return max(limiter.moment(forRequests: requests, at: now), opening).advanced(byMicroseconds: latency)
    }

    // MARK: Sending

    /// The next step for an account.
    enum Next {
        /// Send this request.
        case send(PreparedLookup)
        /// Prepare requests for these questions, then ask again.
        case prepare([Question], App)
        /// Wait until this time.
        case wait(until: UnixTime)
        /// Wait until something happens.
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

    /// Records a failed request.
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
