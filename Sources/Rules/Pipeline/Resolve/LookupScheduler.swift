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
        case failed(LookupFailure)
    }

    struct InFlightRequest: Sendable {
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

    // MARK: Telling

    mutating func takeTally() -> LookupTally {
        defer { tally = LookupTally() }
        return tally
    }

    func conditions(at now: UnixTime) -> [LookupCondition] {
        accounts.map { account in
            LookupCondition(
                account: account.account.name, circuit: account.breaker.state(at: now).rawValue,
                trouble: account.trouble(at: now),
                waiting: account.waiting,
                inFlight: account.limiter.inFlight)
        }
    }

    var remembered: Int { cache.count }
}

extension AnswerCache.Answer {
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

// MARK: Replies

extension LookupScheduler {
    mutating func received(_ reply: LookupReply, at now: UnixTime, random: inout some RandomNumberGenerator) {
        guard let request = inFlight.removeValue(forKey: reply.id) else { return }
        let took = max(0, now.microseconds(since: request.begunAt))
        accounts[request.account].ended(at: now, took: took)
        let failed = zip(request.questions, verdicts(of: reply, request, now)).compactMap { question, verdict in
            learn(verdict, question, request, now).map { (question: question, failure: $0) }
        }
        let account = accounts[request.account].account.name
        tally.count(failed.first?.failure.kind.rawValue ?? "answered", account, took: took)
        guard let failure = failed.first?.failure else { return tell(accounts[request.account].works(at: now)) }
        if Self.isAboutRequest(reply), failure.kind == .misconfigured {
            return request.isOutdated ? tell(accounts[request.account].works(at: now)) : refused(request, failure, now)
        }
        judge(failure, isPartial: failed.count < request.questions.count, request, now, &random)
        guard !request.isOutdated else { return }
        for (question, failure) in failed.reversed() { again(question, failure, request, now, &random) }
    }

    private mutating func verdicts(of reply: LookupReply, _ request: InFlightRequest, _ now: UnixTime)
        -> [LookupVerdict]
    {
        switch reply.result {
        case .failure(let failure): return request.questions.map { _ in .unanswered(failure) }
        case .success(let answer):
            if let length = [answer.retryAfter, answer.exhaustedFor].compactMap({ $0 }).max(), length > 0 {
                accounts[request.account].pause(for: length, at: now)
            }
            let verdicts =
                request.app.lookups?.verdicts(from: answer.response, for: request.questions.map(\.subject)) ?? []
            guard verdicts.count == request.questions.count else {
                let failure = LookupFailure(.unreadable, "the adapter did not speak of every user")
                return request.questions.map { _ in .unanswered(failure) }
            }
            return verdicts
        }
    }

    /// Caches a verdict, unless its app has changed meanwhile.
    ///
    /// - Returns: the failure if there is no verdict.
    mutating func learn(
        _ verdict: LookupVerdict, _ question: Question, _ request: InFlightRequest, _ now: UnixTime
    ) -> LookupFailure? {
        guard request.isOutdated else { return learn(verdict, question, of: request.app, now) }
        if case .unanswered(let failure) = verdict { return failure }
        return nil
    }

    mutating func learn(
        _ verdict: LookupVerdict, _ question: Question, of app: App, _ now: UnixTime
    ) -> LookupFailure? {
        guard let lifetimes = app.lookup?.lifetimes else { return nil }
        let (answer, life): (AnswerCache.Answer, Int64)
        switch verdict {
        case .exists(let enrichment): (answer, life) = (.exists(enrichment), lifetimes.exists)
        case .gone: (answer, life) = (.gone, lifetimes.gone)
        case .unknown: (answer, life) = (.unknown, lifetimes.unknown)
        case .unanswered(let failure): return failure
        }
        tally.count(verdict: answer.name, of: app.name)
        let wanted = waiting.removeValue(forKey: question.id) ?? now
        cache.keep(answer, about: question.id, of: app.name, until: max(now.advanced(byMicroseconds: life), wanted))
        return nil
    }

    /// Returns whether the vendor refused this request only. Ids come from devices, and one invalid id must not stop
    /// the questions about other users.
    private static func isAboutRequest(_ reply: LookupReply) -> Bool {
        guard case .success(let answer) = reply.result else { return false }
        return [400, 413, 414, 422].contains(answer.response.status)
    }

    /// Halves a refused request until it contains only the user that the vendor refuses. The vendor has read the
    /// request, so it works: a circuit that this request was testing closes.
    private mutating func refused(_ request: InFlightRequest, _ failure: LookupFailure, _ now: UnixTime) {
        tell(accounts[request.account].works(at: now))
        guard request.questions.count > 1 else {
            for question in request.questions { give(up: question, failure, now) }
            return tell(.refused(account: accounts[request.account].account.name, detail: failure.detail))
        }
        let middle = request.questions.count / 2
        prepare(Array(request.questions[..<middle]), request.app, request.account, now)
        prepare(Array(request.questions[middle...]), request.app, request.account, now)
    }

    private mutating func judge(
        _ failure: LookupFailure, isPartial: Bool, _ request: InFlightRequest, _ now: UnixTime,
        _ random: inout some RandomNumberGenerator
    ) {
        switch failure.kind {
        case .throttled: tell(accounts[request.account].throttled(failure.detail, at: now, random: &random))
        case .mismatched:
            tell(accounts[request.account].works(at: now))
            tell(.mismatched(account: accounts[request.account].account.name, detail: failure.detail))
        case .unavailable, .unreadable, .misconfigured:
            if isPartial { return tell(accounts[request.account].works(at: now)) }
            tell(accounts[request.account].failed(failure, at: now, random: &random))
        }
    }

    private mutating func tell(_ notice: LookupNotice?) {
        if let notice { tally.notices.append(notice) }
    }

    /// Asks again, if a retry may succeed.
    private mutating func again(
        _ question: Question, _ failure: LookupFailure, _ request: InFlightRequest, _ now: UnixTime,
        _ random: inout some RandomNumberGenerator
    ) {
        var question = question
        switch failure.kind {
        case .throttled: accounts[request.account].queue.putBack([question], of: request.app)
        case .misconfigured, .mismatched: give(up: question, failure, now)
        case .unavailable, .unreadable:
            question.tries += 1
            guard question.tries < Self.tries else { return give(up: question, failure, now) }
            let pause = LookupBackoff.pause(before: question.tries, random: &random)
            accounts[request.account].queue.retry(question, of: request.app, at: now.advanced(byMicroseconds: pause))
        }
    }

    mutating func give(up question: Question, _ failure: LookupFailure, _ now: UnixTime) {
        waiting[question.id] = nil
        if failures.count >= Self.longestQueue { failures = failures.filter { $0.value.until > now } }
        guard failures.count < Self.longestQueue else { return }
        failures[question.id] = (failure, now.advanced(byMicroseconds: Self.failureLife))
    }

    /// Replaces the accounts.
    ///
    /// The cached answers stay, and so do the limits of each account. The open questions of a changed app are dropped:
    /// its events ask again.
    ///
    /// - Parameters:
    ///   - names: the previous names of the accounts that stay.
    ///   - fixed: the accounts with another endpoint or other credentials; their failures no longer count.
    ///   - capacity: the maximum number of cached answers.
    ///   - kept: the apps that did not change.
    mutating func replaceAccounts(
        with accounts: [LookupAccount], before names: [String: String], fixed: Set<String>, capacity: Int,
        keeping kept: [App]
    ) {
        let known = Set(kept.map(ObjectIdentifier.init))
        let isGone = { (app: App) in !known.contains(ObjectIdentifier(app)) }
        var old = self.accounts
        var moved: [Int: Int] = [:]
        self.accounts = accounts.enumerated().map { place, account in
            guard let from = names[account.name].flatMap({ indices[$0] }), moved[from] == nil else {
                return AccountSchedule(account)
            }
            moved[from] = place
            var schedule = old[from]
            schedule.apply(account, isFixed: fixed.contains(account.name))
            return schedule
        }
        indices = Dictionary(accounts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var forgotten: [SubjectID] = []
        for place in old.indices where moved[place] == nil { forgotten += old[place].drop { _ in true } }
        for place in self.accounts.indices { forgotten += self.accounts[place].drop(of: isGone) }
        forgotten += move(moved, isGone)
        for id in forgotten { waiting[id] = nil }
        // The changed configuration may have fixed the failures.
        failures = [:]
        let unchanged = Set(kept.map(\.name))
        cache.resize(to: capacity) { !unchanged.contains($0) }
    }

    /// Keeps requests in flight if their account stays.
    ///
    /// - Returns: the users that these requests will give no answer about.
    private mutating func move(_ places: [Int: Int], _ isGone: (App) -> Bool) -> [SubjectID] {
        var forgotten: [SubjectID] = []
        for (id, request) in inFlight {
            guard let account = places[request.account] else {
                inFlight[id] = nil
                if !request.isOutdated { forgotten += request.questions.map(\.id) }
                continue
            }
            inFlight[id]?.account = account
            guard isGone(request.app), !request.isOutdated else { continue }
            inFlight[id]?.isOutdated = true
            forgotten += request.questions.map(\.id)
        }
        return forgotten
    }
}

/// A cache of the vendors' answers about users, with expiry and bounded memory.
///
/// The cache has two generations. A look-up moves an answer to the young one. When the young one is full, the old one
/// is dropped. So there are at most `capacity` answers, and unused ones are dropped first.
struct AnswerCache: Sendable {
    enum Answer: Sendable, Equatable {
        case exists(Enrichment)
        case gone
        case unknown
    }

    private struct Entry: Sendable {
        let answer: Answer
        let expiresAt: UnixTime
        let app: String
    }

    private var capacity: Int
    private var young: [SubjectID: Entry] = [:]
    private var old: [SubjectID: Entry] = [:]

    /// Creates a cache of at most `capacity` answers, at least two.
    init(capacity: Int) { self.capacity = max(2, capacity) }

    var count: Int { young.count + old.count }

    /// Returns the answer about `id`; nil if there is none or it has expired.
    mutating func answer(about id: SubjectID, at now: UnixTime) -> Answer? {
        if let entry = young[id] { return entry.expiresAt > now ? entry.answer : nil }
        guard let entry = old.removeValue(forKey: id), entry.expiresAt > now else { return nil }
        keep(entry, id)
        return entry.answer
    }

    mutating func keep(_ answer: Answer, about id: SubjectID, of app: String, until moment: UnixTime) {
        old[id] = nil
        keep(Entry(answer: answer, expiresAt: moment, app: app), id)
    }

    /// Changes the capacity, and drops the answers of apps for which `isGone` returns true.
    mutating func resize(to capacity: Int, droppingApps isGone: (String) -> Bool) {
        self.capacity = max(2, capacity)
        // Each generation may have half of the answers. If one is too large, any of its answers may be dropped.
        let half = self.capacity / 2
        for generation in [\AnswerCache.young, \AnswerCache.old] {
            self[keyPath: generation] = self[keyPath: generation].filter { !isGone($1.app) }
            let surplus = self[keyPath: generation].count - half
            for id in self[keyPath: generation].keys.prefix(max(0, surplus)) { self[keyPath: generation][id] = nil }
        }
    }

    private mutating func keep(_ entry: Entry, _ id: SubjectID) {
        if young.count >= capacity / 2, young[id] == nil {
            old = young
            young = [:]
        }
        young[id] = entry
    }
}
