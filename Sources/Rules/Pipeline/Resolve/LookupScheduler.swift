import AdapterKit

/// Asks the vendors about users: in batches, within their limits, once per user for any number of waiting events. No
/// event blocks another.
///
/// A value without clock or I/O. `answer` is called for every event and never waits. `calls` returns the requests to
/// send now. `received` processes the replies.
struct LookupScheduler: Sendable {
    /// The state of the answer about a user.
    enum Answer: Equatable {
        case known(AnswerCache.Answer)
        /// A request is in flight or queued; the answer is expected at about this time.
        case expected(UnixTime)
        /// The request failed.
        case failed(LookupFailure)
    }

    struct InFlightRequest: Sendable {
        /// The index of its account.
        var account: Int
        let app: App
        let questions: [Question]
        let begunAt: UnixTime
        /// Whether the app has changed since the request was sent. Its answer then shows that the vendor works, but is
        /// not used for users.
        var isOutdated = false
    }

    /// The maximum number of attempts for a question. Events that wait longer ask again.
    static let tries = 4
    /// The time for which a failure is returned to events that ask, in microseconds.
    static let failureLife: Int64 = 5_000_000
    /// The maximum number of users that wait for one account. Beyond it, the oldest questions of the app with the most
    /// questions are dropped, and their events return later.
    static let longestQueue = 20_000

    var accounts: [AccountSchedule]
    var indices: [String: Int]
    var cache: AnswerCache
    /// The users with open questions, and the time until which an event may come for the answer.
    var waiting: [SubjectID: UnixTime] = [:]
    var failures: [SubjectID: (failure: LookupFailure, until: UnixTime)] = [:]
    var inFlight: [Int: InFlightRequest] = [:]
    private var lastCall = 0
    var tally = LookupTally()
    /// The time of the next call of `calls`, if nothing happens before.
    private(set) var nextCall: UnixTime?

    /// Creates a scheduler.
    ///
    /// - Parameter capacity: the maximum number of cached answers.
    init(_ accounts: [LookupAccount], capacity: Int) {
        self.accounts = accounts.map { AccountSchedule($0) }
        indices = Dictionary(accounts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        cache = AnswerCache(capacity: capacity)
    }

    // MARK: Asking

    /// Returns the state of the answer about `subject`. Without an answer, it queues a question to the vendor.
    mutating func answer(about subject: Subject, _ id: SubjectID, of app: App, at now: UnixTime) -> Answer {
        if let answer = cache.answer(about: id, at: now) {
            tally.hit(app.name)
            return .known(answer)
        }
        guard let account = app.lookup.flatMap({ indices[$0.account] }) else {
            return .failed(LookupFailure(.misconfigured, "the app's look-ups have no account"))
        }
        if waiting[id] != nil { return .expected(accounts[account].expectation(at: now)) }
        if let (failure, until) = failures.removeValue(forKey: id), until > now { return .failed(failure) }
        if accounts[account].waiting >= Self.longestQueue {
            guard let shed = accounts[account].shedOldest() else {
                return .expected(accounts[account].expectation(at: now))
            }
            // The events that wait for this question ask again.
            waiting[shed.id] = nil
        }
        waiting[id] = now
        accounts[account].queue.append(Question(id: id, subject: subject, askedAt: now), of: app)
        return .expected(accounts[account].expectation(at: now))
    }

    /// Keeps the answer about `id` for an event that returns at `moment` or a little later.
    mutating func keep(_ id: SubjectID, until moment: UnixTime) {
        guard let known = waiting[id] else { return }
        // The event may return to a busy worker.
        waiting[id] = max(known, moment.advanced(bySeconds: 120))
    }

    // MARK: Calling

    /// Returns the requests to send now.
    ///
    /// - Parameters:
    ///   - isMoreComing: whether queued events may be about more users.
    ///   - minter: creates the tokens that authenticate requests, if accounts need them.
    mutating func calls(
        at now: UnixTime, isMoreComing: Bool, minter: inout Minter, signing: any SigningPort
    ) -> [LookupCall] {
        nextCall = nil
        var calls: [LookupCall] = []
        for account in accounts.indices {
            while let prepared = next(account, at: now, isMoreComing) {
                do throws(Rejection) {
                    let token = try bearer(for: prepared, account, now, &minter, signing)
                    calls.append(begin(prepared, account, token, now))
                } catch {
                    let failure = LookupFailure(.misconfigured, "no token to ask with: \(error.detail)")
                    for question in prepared.questions { give(up: question, failure, now) }
                }
            }
        }
        return calls
    }

    private func bearer(
        for prepared: PreparedLookup, _ account: Int, _ now: UnixTime, _ minter: inout Minter,
        _ signing: any SigningPort
    ) throws(Rejection) -> SigningRequest? {
        guard accounts[account].account.usesMintedTokens, let question = prepared.questions.first else { return nil }
        guard let key = signing.activeKey(of: prepared.app.keyRing) else {
            throw Rejection(.keyUnavailable, "the key ring \(prepared.app.keyRing) has no active key")
        }
        return try minter.credential(for: prepared.app, question.subject, with: key, at: now)
    }

    /// Returns the next request of an account; nil if there is none, or it must not be sent yet.
    private mutating func next(_ account: Int, at now: UnixTime, _ isMoreComing: Bool) -> PreparedLookup? {
        while true {
            switch accounts[account].next(at: now, isMoreComing: isMoreComing) {
            case .send(let prepared): return prepared
            case .prepare(let questions, let app): prepare(questions, app, account, now)
            case .wait(let moment):
                nextCall = min(nextCall ?? moment, moment)
                return nil
            case .nothing: return nil
            }
        }
    }

    mutating func prepare(_ questions: [Question], _ app: App, _ account: Int, _ now: UnixTime) {
        let lookup = app.lookups?.lookup(for: questions.map(\.subject), mode: app.lookup?.mode ?? .verify)
        guard case .requests(let requests)? = lookup else {
            for question in questions { _ = learn(.exists(Enrichment()), question, of: app, now) }
            return
        }
        var asked: Set<Int> = []
        for request in requests where questions.indices.contains(request.subjects) {
            asked.formUnion(request.subjects)
            accounts[account].append(
                PreparedLookup(app: app, request: request, questions: Array(questions[request.subjects])))
        }
        let failure = LookupFailure(.misconfigured, "the adapter asks nothing about this user")
        for (place, question) in questions.enumerated() where !asked.contains(place) {
            give(up: question, failure, now)
        }
    }

    private mutating func begin(
        _ prepared: PreparedLookup, _ account: Int, _ bearer: SigningRequest?, _ now: UnixTime
    ) -> LookupCall {
        lastCall += 1
        accounts[account].began(at: now)
        inFlight[lastCall] = InFlightRequest(
            account: account, app: prepared.app, questions: prepared.questions, begunAt: now)
        return LookupCall(
            id: lastCall, account: accounts[account].account.name, request: prepared.request, bearer: bearer)
    }
}

// MARK: Telling

extension LookupScheduler {
    /// Returns the counts since the last call.
    mutating func takeTally() -> LookupTally {
        defer { tally = LookupTally() }
        return tally
    }

    /// Returns the current state of the accounts.
    func conditions(at now: UnixTime) -> [LookupCondition] {
        accounts.map { account in
            LookupCondition(
                account: account.account.name, circuit: account.breaker.state(at: now).rawValue,
                trouble: account.trouble(at: now),
                waiting: account.waiting,
                inFlight: account.limiter.inFlight)
        }
    }

    /// The number of cached answers.
    var remembered: Int { cache.count }
}

extension AnswerCache.Answer {
    /// The answer's name in metrics.
    var name: String {
        switch self {
        case .exists: "exists"
        case .gone: "gone"
        case .unknown: "unknown"
        }
    }
}

extension Range<Int> {
    /// Returns whether `other` is not empty and within the range.
    fileprivate func contains(_ other: Range<Int>) -> Bool {
        !other.isEmpty && lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
