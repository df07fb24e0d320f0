import AdapterKit
import Kafka
import Pipeline
import Synchronization
import WorkerConfiguration

/// Gets tokens for callers: known ones, or new ones from a worker.
struct TokenAsks: Sendable {
    let store: TokenStore
    let sender: EventSender
    let ids: EventIDs
    /// Returns the forecast of a worker's decision about an event, by the present configuration.
    let forecaster: @Sendable () -> EventForecaster
    let now: @Sendable () -> UnixTime
    /// Returns the present settings of workers' admission.
    let admission: @Sendable () -> Configuration.Admission
    /// The queue of asks for users without a known token.
    let cold: ColdAsks

    /// The tokens that a wait accepts, and its end.
    struct Wait: Sendable {
        let app: String
        let key: [UInt8]
        var after: Int64
        /// The version that was known; nil for `after`.
        var known: Int64?
        /// The event whose dead letter ends the wait too, its name among the asks under way, and its delivery; nil
        /// where only the next token is awaited.
        var event: (awaited: AwaitedEvent, name: [UInt8], delivery: Delivery)?
        /// The tokens that the report names, which are no answers: this gateway may read them only now.
        var named: NamedTokens?
        var challenge: String?
        let until: ContinuousClock.Instant
        /// The life in seconds that the token of a call without a report must have; nil for a report.
        var life: Int64?
        /// The version that the caller has; no older token is an answer.
        var floor: Int64 = 0
    }

    /// The outcome of an ask.
    enum Outcome {
        /// A token.
        case token(HeldToken)
        /// The ask is under way: its event, the version that its token will exceed, and the challenge that it answers.
        case accepted(event: String, after: Int64, challenge: String?)
        /// No newer token came.
        case nothing
        /// The caller may wait; `finish` does so.
        case waits(Wait)
    }

    // MARK: Reports

    /// Asks for an answer to `report`, the SDK's own text. The caller would wait for `wait`.
    ///
    /// - Throws: `Problem`.
    func answer(
        _ report: [UInt8], of asker: Asker, _ app: PickupApp, within wait: Duration
    ) async throws(Problem) -> Outcome {
        let id = ids.id(of: report, subjectKey: asker.subject.key(app: app.name), device: asker.device)
        let record = sender.record(.report(report), id: id, asker, app)
        let (key, challenge, isCertain) = try subject(of: record, asker, app)
        try requireOpen(app, for: asker)
        if isCertain, challenge == nil, let token = justMinted(key, after: report) { return .token(token) }
        return try await ask(record, id: id, key, challenge: challenge, asker, app, report, within: wait)
    }

    /// Returns the subject key of the report's token, the challenge that it answers, and whether the report's text
    /// alone makes it certain that there will be a token.
    private func subject(
        of record: ProducerRecord, _ asker: Asker, _ app: PickupApp
    ) throws(Problem) -> (key: [UInt8], challenge: String?, isCertain: Bool) {
        switch forecaster().forecast(sender.input(record), at: now()) {
        case .token(let key, let challenge): return (key, challenge, true)
        case .open: return (asker.subject.key(app: app.name), nil, false)
        case .nothing(let why): throw Problem(.notFixableByToken, why)
        case .rejection(let rejection): throw Problem(rejection.code, rejection.detail)
        }
    }

    /// Returns the live token that was minted a moment ago and that a worker would take for this report's answer too;
    /// nil where the report names that very token.
    private func justMinted(_ key: [UInt8], after report: [UInt8]) -> HeldToken? {
        let time = now()
        guard let token = store.newest(key), token.isLive(at: time),
            (0..<admission().coalescing.microseconds).contains(
                time.microseconds(since: UnixTime(microseconds: token.version)))
        else { return nil }
        return token.isNamed(in: report) ? nil : token
    }

    // MARK: Tokens

    /// Returns a live token with at least `life` seconds left; where there is none, asks for one.
    ///
    /// - Parameter floor: the version that the caller has; no older token is returned.
    /// - Throws: `Problem`.
    func token(
        for asker: Asker, _ app: PickupApp, life: Int64, notBelow floor: Int64 = 0, within wait: Duration
    ) async throws(Problem) -> Outcome {
        let key = asker.subject.key(app: app.name)
        if let token = store.live(key, life: life), token.version >= floor { return .token(token) }
        try requireOpen(app, for: asker)
        try app.requireMembers(vouchedBy: asker.vouched)
        let id = ids.fresh()
        let record = sender.record(.reissue(asker.subject), id: id, asker, app)
        return try await ask(
            record, id: id, key, challenge: nil, asker, app, life: life, notBelow: floor, within: wait)
    }

    /// Returns a token above `after`, or a wait of up to `wait` for one.
    ///
    /// - Throws: `Problem` where no token can come, or the app's events wait and the caller does not.
    func newer(
        than after: Int64, _ key: [UInt8], of app: PickupApp, within wait: Duration
    ) throws(Problem) -> Outcome {
        let seconds = now().seconds
        if let token = store.newest(key), token.version > after, token.expiresAt > seconds { return .token(token) }
        if let problem = unreachable { throw problem }
        if wait > .zero { return .waits(Wait(app: app.name, key: key, after: after, until: .now + wait)) }
        if let problem = waiting(app.name) { throw problem }
        return .nothing
    }

    /// Waits, and calls `done` with the outcome, once. No task waits, because thousands of calls wait at once.
    func finish(_ wait: Wait, _ done: @escaping @Sendable (Result<Outcome, Problem>) -> Void) {
        store.waiters.wait(
            for: wait.key, after: wait.after, known: wait.known, event: wait.event?.awaited, until: wait.until,
            unless: { arrival(for: wait) }
        ) { arrival in
            if case .token(let token) = arrival, wait.named?.contain(token) == true {
                var next = wait
                next.after = max(wait.after, token.version)
                next.known = token.version
                return finish(next, done)
            }
            do throws(Problem) { done(.success(try outcome(arrival, wait))) } catch { done(.failure(error)) }
        }
    }

    /// Returns the answer that came before the wait began.
    private func arrival(for wait: Wait) -> Arrival? {
        if let token = store.newest(wait.key), token.version > wait.after { return .token(token) }
        if case .refused(let problem)? = wait.event?.delivery.word { return .unsent(problem) }
        return nil
    }

    private func outcome(_ arrival: Arrival, _ wait: Wait) throws(Problem) -> Outcome {
        switch arrival {
        case .token(var token):
            token.challenge = wait.challenge
            return .token(token)
        case .draining: throw Problem.draining
        case .unsent(let problem): throw problem
        case .nothing:
            if let problem = waiting(wait.app) { throw problem }
            guard let event = wait.event else {
                if let problem = unreachable { throw problem }
                return .nothing
            }
            if event.delivery.word == nil { throw Self.untaken }
            return .accepted(event: event.awaited.id, after: wait.after, challenge: wait.challenge)
        case .handled:
            if let problem = waiting(wait.app) { throw problem }
            if var token = knownAnswer(to: wait) {
                token.challenge = wait.challenge
                return .token(token)
            }
            guard let event = wait.event else { return .nothing }
            if wait.life != nil { throw Problem.handled }
            return .accepted(event: event.awaited.id, after: wait.after, challenge: wait.challenge)
        case .deadLetter(let code):
            guard let event = wait.event else { return .nothing }
            store.asks.withLock { $0.ended(event.name, event: event.awaited.id) }
            throw Problem(code)
        }
    }

    /// Returns the known token that answers a call, where a worker was done with its event and published nothing; nil
    /// where none does.
    private func knownAnswer(to wait: Wait) -> HeldToken? {
        let time = now()
        guard let token = store.newest(wait.key), token.isLive(at: time), token.version >= wait.floor else {
            return nil
        }
        if let life = wait.life { return token.expiresAt - time.seconds >= life ? token : nil }
        if let named = wait.named { return named.contain(token) ? nil : token }
        return token.version > wait.known ?? wait.after ? token : nil
    }

    /// The problem of brokers that do not answer, or of a token topic that is gone; nil where events can be answered.
    var unreachable: Problem? {
        let tail = store.tail
        if tail.silentSince != nil { return .silent }
        return tail.isMissing ? .topicMissing : nil
    }

    /// Returns whether nothing can be asked for `app`: no broker answers, the token topic is gone, or an operator
    /// paused the app or the live lane.
    func isHeld(_ app: String) -> Bool {
        unreachable != nil || store.lanePause != nil || store.suspension(of: app)?.cause == .paused
    }

    private var probeWait: Int64 { admission().probeWait.components.seconds }

    /// Requires that the app's events may be sent. An app whose events wait gives no token now. Of a suspended app some
    /// asks reach a worker, which chooses probes from them. Where only users who refused wait, all asks do, because only
    /// the worker knows these users.
    private func requireOpen(_ app: PickupApp, for asker: Asker) throws(Problem) {
        let time = now()
        if let pause = store.lanePause { throw Problem.paused(pause, at: time) }
        guard let suspension = store.suspension(of: app.name) else { return }
        if suspension.cause == .suspended {
            if suspension.reach == .refusingUsers { return }
            let user = asker.subject.key(app: app.name)
            let isAdmitted = store.probes.withLock { probes in
                probes.admits(user, of: app.name, since: suspension.since, at: time)
            }
            if isAdmitted { return }
        }
        throw Problem.waiting(suspension, probeWait: probeWait, at: time)
    }

    /// Returns the problem of an app whose events wait; nil where they do not.
    private func waiting(_ app: String) -> Problem? {
        if let pause = store.lanePause { return Problem.paused(pause, at: now()) }
        return store.suspension(of: app).map { Problem.waiting($0, probeWait: probeWait, at: now()) }
    }
}
