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
    private static let tries = 4
    /// How long a failure is told to events that ask, in microseconds.
    private static let failureLife: Int64 = 5_000_000
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
    private var tally = LookupTally()
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

    private mutating func prepare(_ questions: [Question], _ app: App, _ line: Int, _ now: UnixTime) {
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

    // MARK: Replies

    /// What became of a call.
    mutating func received(_ reply: LookupReply, at now: UnixTime, random: inout some RandomNumberGenerator) {
        guard let flight = flights.removeValue(forKey: reply.id) else { return }
        let took = max(0, now.microseconds(since: flight.begunAt))
        lines[flight.line].ended(at: now, took: took)
        let failed = zip(flight.questions, verdicts(of: reply, flight, now)).compactMap { question, verdict in
            learn(verdict, question, flight, now).map { (question: question, failure: $0) }
        }
        let account = lines[flight.line].account.name
        tally.count(failed.first?.failure.kind.rawValue ?? "answered", account, took: took)
        guard let failure = failed.first?.failure else { return tell(lines[flight.line].works(at: now)) }
        if Self.isAboutRequest(reply), failure.kind == .misconfigured {
            return flight.isOutdated ? tell(lines[flight.line].works(at: now)) : refused(flight, failure, now)
        }
        judge(failure, isPartial: failed.count < flight.questions.count, flight, now, &random)
        guard !flight.isOutdated else { return }
        for (question, failure) in failed.reversed() { again(question, failure, flight, now, &random) }
    }

    private mutating func verdicts(of reply: LookupReply, _ flight: InFlightRequest, _ now: UnixTime) -> [LookupVerdict]
    {
        switch reply.result {
        case .failure(let failure): return flight.questions.map { _ in .unanswered(failure) }
        case .success(let answer):
            if let length = [answer.retryAfter, answer.exhaustedFor].compactMap({ $0 }).max(), length > 0 {
                lines[flight.line].pause(for: length, at: now)
            }
            let verdicts = flight.app.adapter.verdicts(
                from: answer.response, for: flight.questions.map(\.subject))
            guard verdicts.count == flight.questions.count else {
                let failure = LookupFailure(.unreadable, "the adapter did not speak of every user")
                return flight.questions.map { _ in .unanswered(failure) }
            }
            return verdicts
        }
    }

    /// Remembers a verdict, unless its app goes by other rules meanwhile.
    ///
    /// - Returns: why there is none.
    private mutating func learn(
        _ verdict: LookupVerdict, _ question: Question, _ flight: InFlightRequest, _ now: UnixTime
    ) -> LookupFailure? {
        guard flight.isOutdated else { return learn(verdict, question, of: flight.app, now) }
        if case .unanswered(let failure) = verdict { return failure }
        return nil
    }

    private mutating func learn(
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

    /// Whether the vendor found fault with this very request, and not with us: ids come from devices, and one that a vendor
    /// does not take must not keep everybody else's questions from being asked.
    private static func isAboutRequest(_ reply: LookupReply) -> Bool {
        guard case .success(let answer) = reply.result else { return false }
        return [400, 413, 414, 422].contains(answer.response.status)
    }

    /// Halves a request that was refused, until the one user stands alone whom it is about. Who finds fault with a request has read
    /// it: the vendor works, and a circuit that was trying with this very request closes.
    private mutating func refused(_ flight: InFlightRequest, _ failure: LookupFailure, _ now: UnixTime) {
        tell(lines[flight.line].works(at: now))
        guard flight.questions.count > 1 else {
            for question in flight.questions { give(up: question, failure, now) }
            return tell(.refused(account: lines[flight.line].account.name, detail: failure.detail))
        }
        let middle = flight.questions.count / 2
        prepare(Array(flight.questions[..<middle]), flight.app, flight.line, now)
        prepare(Array(flight.questions[middle...]), flight.app, flight.line, now)
    }

    /// What a failure says of the vendor.
    private mutating func judge(
        _ failure: LookupFailure, isPartial: Bool, _ flight: InFlightRequest, _ now: UnixTime,
        _ random: inout some RandomNumberGenerator
    ) {
        switch failure.kind {
        case .throttled: tell(lines[flight.line].throttled(at: now, random: &random))
        case .mismatched:
            tell(lines[flight.line].works(at: now))
            tell(.mismatched(account: lines[flight.line].account.name, detail: failure.detail))
        case .unavailable, .unreadable, .misconfigured:
            if isPartial { return tell(lines[flight.line].works(at: now)) }
            tell(lines[flight.line].failed(failure, at: now, random: &random))
        }
    }

    private mutating func tell(_ notice: LookupNotice?) {
        if let notice { tally.notices.append(notice) }
    }

    /// Asks again, where that may help.
    private mutating func again(
        _ question: Question, _ failure: LookupFailure, _ flight: InFlightRequest, _ now: UnixTime,
        _ random: inout some RandomNumberGenerator
    ) {
        var question = question
        switch failure.kind {
        case .throttled: lines[flight.line].queue.putBack([question], of: flight.app)
        case .misconfigured, .mismatched: give(up: question, failure, now)
        case .unavailable, .unreadable:
            question.tries += 1
            guard question.tries < Self.tries else { return give(up: question, failure, now) }
            let pause = LookupBackoff.pause(before: question.tries, random: &random)
            lines[flight.line].queue.retry(question, of: flight.app, at: now.advanced(byMicroseconds: pause))
        }
    }

    private mutating func give(up question: Question, _ failure: LookupFailure, _ now: UnixTime) {
        waiting[question.id] = nil
        if failures.count >= Self.longestQueue { failures = failures.filter { $0.value.until > now } }
        guard failures.count < Self.longestQueue else { return }
        failures[question.id] = (failure, now.advanced(byMicroseconds: Self.failureLife))
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
