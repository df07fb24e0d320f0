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
    let admission: @Sendable () -> Configuration.Admission
    /// The queue of asks for users without a known token.
    let cold: ColdAsks

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

    enum Outcome {
        case token(HeldToken)
        /// The ask is under way: its event, the version that its token will exceed, and the challenge that it answers.
        case accepted(event: String, after: Int64, challenge: String?)
        case nothing
        /// The caller may wait; `finish` does so.
        case waits(Wait)
    }

    // MARK: Reports

    /// Asks for an answer to `report`, the SDK's own text. The caller would wait for `wait`.
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

extension TokenAsks {
    /// Asks a worker, unless the same ask is under way.
    ///
    /// If this gateway knows no token of the subject, there may still be one: published before the gateway began to
    /// follow, or forgotten. The event states so, a worker answers it with a newer token, and no older token
    /// counts as an answer. A token below `floor`, the version that the caller has, counts as unknown: this gateway lags,
    /// or follows another topic than the gateway that handed out that version. A worker that knows the version mints
    /// nothing.
    func ask(
        _ record: ProducerRecord, id: String, _ key: [UInt8], challenge: String?, _ asker: Asker, _ app: PickupApp,
        _ report: [UInt8]? = nil, life: Int64? = nil, notBelow floor: Int64 = 0, within wait: Duration
    ) async throws(Problem) -> Outcome {
        if let problem = unreachable { throw problem }
        let newest = store.newest(key)
        let known = newest.flatMap { $0.version >= floor ? $0 : nil }
        let isCold = known == nil && challenge == nil
        // Of the devices of a user without a known token, one asks.
        let device = isCold && report == nil ? "" : asker.device ?? ""
        let name = key + [0] + Array(device.utf8)
        let version = max(newest?.version ?? 0, floor - 1)
        let time = now()
        if var known, known.isLive(at: time), report.map({ !known.isNamed(in: $0) }) ?? true,
            store.asks.withLock({ $0.answered(name, event: id, version: version, at: time) })
        {
            known.challenge = challenge
            return .token(known)
        }
        let unseen =
            isCold ? max(newest == nil ? store.unseen(of: key) : 0, min(floor, time.microseconds) - 1, 0) : 0
        let fresh = AsksUnderWay.Ask(event: id, after: max(version, unseen), sentAt: time)
        // Looked up and noted together: of two asks at the same time one is sent.
        let current = store.asks.withLock { asks in
            let current = asks.current(name, version: newest?.version ?? 0, unseen: unseen, at: time)
            if current == nil { asks.sent(fresh, as: name) }
            return current
        }
        let ask = current ?? fresh
        let until = ContinuousClock.now + wait
        if current == nil { try send(OutgoingAsk(record: record, name: name, ask: ask), unseen, isCold, within: wait) }
        guard wait > .zero else {
            // A caller that does not wait learns whether the brokers accepted the event, which takes a round trip.
            try await requireTaken(ask.delivery, within: Self.leastWait)
            return .accepted(event: ask.event, after: max(ask.after, floor - 1), challenge: challenge)
        }
        let awaited = AwaitedEvent(
            id: ask.event, key: record.key ?? [], app: app.name, topic: record.topic, delivery: ask.delivery,
            place: ask.place)
        if let place = ask.place { store.waits(for: place, of: record.topic) }
        return .waits(
            Wait(
                app: app.name, key: key, after: max(ask.after, floor - 1), known: version,
                event: (awaited, name, ask.delivery), named: report.map { NamedTokens(in: $0) }, challenge: challenge,
                until: until, life: life, floor: floor))
    }

    private func send(
        _ ask: OutgoingAsk, _ unseen: Int64, _ isCold: Bool, within wait: Duration
    ) throws(Problem) {
        guard isCold else { return sender.send([ask]) }
        do throws(Problem) { try cold.send(ask, unseen: unseen, within: wait) } catch {
            store.delivered(ask, .refused(error))
            throw error
        }
    }

    private static let leastWait = Duration.milliseconds(500)
    static let untaken = Problem.unavailable("the brokers have not taken the event yet")

    /// Waits for the brokers' answer about an event.
    ///
    /// - Throws: `Problem` where they did not accept it, or did not answer within `wait`.
    func requireTaken(_ delivery: Delivery, within wait: Duration) async throws(Problem) {
        switch await delivery.word(within: wait) {
        case .taken: return
        case .refused(let problem): throw problem
        case nil: throw Self.untaken
        }
    }
}

/// The tokens that a report names, each by a hash of its signature's end. A call that waits keeps them in place of the
/// report, which may be a thousand times as long. A value.
struct NamedTokens: Sendable, Equatable {
    /// The number of a signature's last bytes that are compared.
    static let tail = 24
    /// The most tokens of a report that are known: an SDK names one.
    private static let most = 64

    private let ends: [Int]

    /// The tokens in compact form that `report`, an SDK's own text, names.
    init(in report: [UInt8]) {
        var ends: [Int] = []
        var start = report.startIndex
        for index in 0...report.count where index == report.count || !Self.isBase64URL(report[index]) {
            // A signature follows a dot.
            if index - start >= Self.tail, start > 0, report[start - 1] == UInt8(ascii: "."), ends.count < Self.most {
                ends.append(Self.hash(report[(index - Self.tail)..<index]))
            }
            start = index + 1
        }
        self.ends = ends
    }

    func contain(_ token: HeldToken) -> Bool {
        token.text.count >= Self.tail && ends.contains(Self.hash(token.text.suffix(Self.tail)))
    }

    /// Returns a hash that nobody outside the process can foresee.
    private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
