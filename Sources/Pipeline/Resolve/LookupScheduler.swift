import AdapterKit

/// Asks the vendors about users: in batches, within their limits, each user once however many events wait, and never so
/// that somebody else waits.
///
/// A value without clock or I/O. `answer` is asked for every event and never waits; `calls` says what is to be sent now, and
/// `received` takes what came back.
struct LookupScheduler: Sendable {
    /// What is known of a user.
    enum Answer: Equatable {
        case known(AnswerCache.Answer)
        /// The vendor is being asked, or will be; an answer is to be expected about then.
        case expected(UnixTime)
        /// The vendor was asked in vain.
        case failed(LookupFailure)
    }

    struct InFlightRequest: Sendable {
        var line: Int
        let app: App
        let questions: [Question]
        let begunAt: UnixTime
        /// Whether its app is configured otherwise by now: what comes back tells of the vendor, and nothing of users.
        var isOutdated = false
    }

    /// How often a question is asked within one stay; events that wait for it longer ask anew.
    static let tries = 4
    /// How long a failure is told to events that ask, in microseconds.
    static let failureLife: Int64 = 5_000_000
    /// How many users may wait at one account; beyond that those who have waited longest, of the app that has the most, come back
    /// later.
    static let longestQueue = 20_000

    var lines: [AccountSchedule]
    var indices: [String: Int]
    var cache: AnswerCache
    /// Users who are waited for, and until when somebody will come for the answer.
    var waiting: [SubjectID: UnixTime] = [:]
    var failures: [SubjectID: (failure: LookupFailure, until: UnixTime)] = [:]
    var flights: [Int: InFlightRequest] = [:]
    private var lastCall = 0
    var tally = LookupTally()
    /// When `calls` is to be asked next, if nothing comes before.
    private(set) var nextCall: UnixTime?

    /// - Parameter capacity: how many answers are remembered at most.
    init(_ accounts: [LookupAccount], capacity: Int) {
        lines = accounts.map { AccountSchedule($0) }
        indices = Dictionary(accounts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        cache = AnswerCache(capacity: capacity)
    }

    // MARK: Asking

    /// What is known of `subject`. Where nothing is, the vendor will be asked.
    mutating func answer(about subject: Subject, _ id: SubjectID, of app: App, at now: UnixTime) -> Answer {
        if let answer = cache.answer(about: id, at: now) {
            tally.hit(app.name)
            return .known(answer)
        }
        guard let line = app.lookup.flatMap({ indices[$0.account] }) else {
            return .failed(LookupFailure(.misconfigured, "the app's look-ups have no account"))
        }
        if waiting[id] != nil { return .expected(lines[line].expectation(at: now)) }
        if let (failure, until) = failures.removeValue(forKey: id), until > now { return .failed(failure) }
        if lines[line].waiting >= Self.longestQueue {
            guard let shed = lines[line].shedOldest() else { return .expected(lines[line].expectation(at: now)) }
            // Whoever waits for it asks anew.
            waiting[shed.id] = nil
        }
        waiting[id] = now
        lines[line].queue.append(Question(id: id, subject: subject, askedAt: now), of: app)
        return .expected(lines[line].expectation(at: now))
    }

    /// Somebody will come back for the answer about `id`, at `moment` or a little later.
    mutating func keep(_ id: SubjectID, until moment: UnixTime) {
        guard let known = waiting[id] else { return }
        // Whoever comes back may find the worker busy.
        waiting[id] = max(known, moment.advanced(bySeconds: 120))
    }

    // MARK: Calling

    /// The requests that may be sent now.
    ///
    /// - Parameters:
    ///   - isMoreComing: whether events stand in line that may be about further users.
    ///   - minter: makes the tokens that prove requests' right, where accounts want them.
    mutating func calls(
        at now: UnixTime, isMoreComing: Bool, minter: inout Minter, signing: any SigningPort
    ) -> [LookupCall] {
        nextCall = nil
        var calls: [LookupCall] = []
        for line in lines.indices {
            while let prepared = next(line, at: now, isMoreComing) {
                do throws(Rejection) {
                    let token = try bearer(for: prepared, line, now, &minter, signing)
                    calls.append(begin(prepared, line, token, now))
                } catch {
                    let failure = LookupFailure(.misconfigured, "no token to ask with: \(error.detail)")
                    for question in prepared.questions { give(up: question, failure, now) }
                }
            }
        }
        return calls
    }

    private func bearer(
        for prepared: PreparedLookup, _ line: Int, _ now: UnixTime, _ minter: inout Minter, _ signing: any SigningPort
    ) throws(Rejection) -> SigningRequest? {
        guard lines[line].account.usesMintedTokens, let question = prepared.questions.first else { return nil }
        guard let key = signing.activeKey(of: prepared.app.keyRing) else {
            throw Rejection(.keyUnavailable, "the key ring \(prepared.app.keyRing) has no active key")
        }
        return try minter.credential(for: prepared.app, question.subject, with: key, at: now)
    }

    /// The next request of a line; nil where there is none, or it may not be sent yet.
    private mutating func next(_ line: Int, at now: UnixTime, _ isMoreComing: Bool) -> PreparedLookup? {
        while true {
            switch lines[line].next(at: now, isMoreComing: isMoreComing) {
            case .send(let prepared): return prepared
            case .prepare(let questions, let app): prepare(questions, app, line, now)
            case .wait(let moment):
                nextCall = min(nextCall ?? moment, moment)
                return nil
            case .nothing: return nil
            }
        }
    }

    mutating func prepare(_ questions: [Question], _ app: App, _ line: Int, _ now: UnixTime) {
        let lookup = app.adapter.lookup(for: questions.map(\.subject), mode: app.lookup?.mode ?? .verify)
        guard case .requests(let requests) = lookup else {
            for question in questions { _ = learn(.exists(Enrichment()), question, of: app, now) }
            return
        }
        var asked: Set<Int> = []
        for request in requests where questions.indices.contains(request.subjects) {
            asked.formUnion(request.subjects)
            lines[line].append(
                PreparedLookup(app: app, request: request, questions: Array(questions[request.subjects])))
        }
        let failure = LookupFailure(.misconfigured, "the adapter asks nothing about this user")
        for (place, question) in questions.enumerated() where !asked.contains(place) {
            give(up: question, failure, now)
        }
    }

    private mutating func begin(
        _ prepared: PreparedLookup, _ line: Int, _ bearer: SigningRequest?, _ now: UnixTime
    ) -> LookupCall {
        lastCall += 1
        lines[line].began(at: now)
        flights[lastCall] = InFlightRequest(line: line, app: prepared.app, questions: prepared.questions, begunAt: now)
        return LookupCall(
            id: lastCall, account: lines[line].account.name, request: prepared.request, bearer: bearer)
    }
}

// MARK: Telling

extension LookupScheduler {
    /// What was counted since the last call.
    mutating func takeTally() -> LookupTally {
        defer { tally = LookupTally() }
        return tally
    }

    /// The accounts as they are now.
    func conditions(at now: UnixTime) -> [LookupCondition] {
        lines.map { line in
            LookupCondition(
                account: line.account.name, circuit: line.breaker.state(at: now).rawValue, waiting: line.waiting,
                inFlight: line.limiter.inFlight)
        }
    }

    /// How many answers are remembered.
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
    /// Whether all of `other` is within it, and `other` is not empty.
    fileprivate func contains(_ other: Range<Int>) -> Bool {
        !other.isEmpty && lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
