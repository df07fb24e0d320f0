import AdapterKit

// MARK: Replies

extension LookupScheduler {
    /// Processes the reply to a call.
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

    /// Applies a failure to the account's limits and circuit.
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
}
