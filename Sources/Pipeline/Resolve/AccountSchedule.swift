import AdapterKit

/// A request that may be sent as soon as the limits allow.
struct PreparedLookup: Sendable {
    let app: App
    let request: LookupRequest
    let questions: [Question]
}

/// The line to one account's vendor: who waits, what may be sent when, and whether the vendor works.
struct AccountSchedule: Sendable {
    private(set) var account: LookupAccount
    var queue = LookupQueue()
    private(set) var limiter: RequestLimiter
    private(set) var breaker = CircuitBreaker()
    private var prepared: [PreparedLookup] = []
    private var lastBegin: UnixTime?
    /// Requests in a row that were refused for their rate, without a word of when to come back.
    private var throttles = 0
    /// What an answer takes, in microseconds: a moving mean.
    private var latency: Int64 = 200_000

    /// How long a request waits to become full, in microseconds: a moment for one user, twice that where several came together
    /// and so others may follow, and longer where more events are known to come.
    private static let gathering = (alone: Int64(100_000), several: Int64(200_000), longer: Int64(10_000_000))

    init(_ account: LookupAccount) {
        self.account = account
        limiter = RequestLimiter(account)
    }

    /// Goes on as `account`: what was asked counts on.
    ///
    /// - Parameter isMended: whether it is asked elsewhere or with something else, so that why it did not work is history.
    mutating func goOn(as account: LookupAccount, isMended: Bool) {
        self.account = account
        limiter.goOn(as: account, isMended: isMended)
        if isMended { breaker = CircuitBreaker() }
    }

    /// Takes out the questions of apps that `isGone` names.
    ///
    /// - Returns: whom they were about.
    mutating func drop(of isGone: (App) -> Bool) -> [SubjectID] {
        let dropped = prepared.filter { isGone($0.app) }.flatMap { $0.questions.map(\.id) }
        prepared.removeAll { isGone($0.app) }
        return dropped + queue.drop(of: isGone)
    }

    /// Takes away the question that has waited longest, of the app of which the most users wait.
    mutating func shedOldest() -> Question? {
        var counts: [String: Int] = [:]
        for lookup in prepared { counts[lookup.app.name, default: 0] += lookup.questions.count }
        return queue.shedOldest(beside: counts)
    }

    /// Users who wait.
    var waiting: Int { queue.count + prepared.reduce(0) { $0 + $1.questions.count } }

    /// When the last in the queue can be answered, at the vendor's pace.
    func expectation(at now: UnixTime) -> UnixTime {
        let requests = (max(1, queue.count) + account.batch - 1) / account.batch + prepared.count
        let opening = breaker.opening(at: now) ?? now
        return max(limiter.moment(forRequests: requests, at: now), opening).advanced(byMicroseconds: latency)
    }

    // MARK: Sending

    /// What comes next.
    enum Next {
        /// This may be sent.
        case send(PreparedLookup)
        /// These are to be prepared; then ask again.
        case prepare([Question], App)
        /// Nothing before this moment.
        case wait(until: UnixTime)
        /// Nothing before something happens.
        case nothing
    }

    /// - Parameter isMoreComing: whether events stand in line that may be about further users.
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

    /// A request ended that took so many microseconds.
    mutating func ended(at now: UnixTime, took: Int64) {
        limiter.end(at: now)
        latency = (latency * 7 + took) / 8
    }

    /// The vendor says how long it is not to be asked, in microseconds. It is asked again after `RequestLimiter.longestPause` at the
    /// latest.
    mutating func pause(for length: Int64, at now: UnixTime) {
        limiter.pause(for: length, at: now)
        throttles = 0
    }

    /// The vendor answered as it should.
    ///
    /// - Returns: what an operator should know of.
    mutating func works(at now: UnixTime) -> LookupNotice? {
        throttles = 0
        return breaker.succeeded(at: now).map { .closed(account: account.name, after: $0) }
    }

    /// The vendor has had enough. Where it did not say for how long, the pauses grow.
    mutating func throttled(at now: UnixTime, random: inout some RandomNumberGenerator) -> LookupNotice? {
        let isPaused = limiter.pause(at: now).map { $0 > now } ?? false
        if !isPaused {
            throttles += 1
            let jitter = LookupBackoff.pause(before: throttles + 1, random: &random)
            limiter.pause(for: 1_000_000 + jitter, at: now)
        }
        // It works, and says so.
        return breaker.succeeded(at: now).map { .closed(account: account.name, after: $0) }
    }

    /// The vendor did not answer as it should.
    mutating func failed(
        _ failure: LookupFailure, at now: UnixTime, random: inout some RandomNumberGenerator
    ) -> LookupNotice? {
        let isCertain = failure.kind == .misconfigured
        guard breaker.failed(at: now, isCertain: isCertain, random: &random) else { return nil }
        return .opened(account: account.name, detail: failure.detail)
    }
}

/// Exponential back-off with full jitter: a random pause below a bound that doubles.
enum LookupBackoff {
    /// The first bound and the longest, in microseconds.
    private static let bounds = (first: Int64(250_000), longest: Int64(30_000_000))

    static func pause(before attempt: Int, random: inout some RandomNumberGenerator) -> Int64 {
        let bound = min(bounds.longest, bounds.first << Int64(min(max(attempt - 1, 0), 10)))
        return Int64.random(in: 0...bound, using: &random)
    }
}
