import AdapterKit

/// Turns the endings of events into settlements: the record to publish, and whether to retry. No other code creates
/// settlements.
struct Settler: Sendable {
    private var retries: RetryPolicy
    private var apps: Set<String>
    private var random: AnyGenerator

    init(retries: RetryPolicy, apps: Set<String>, random: AnyGenerator) {
        self.retries = retries
        self.apps = apps
        self.random = random
    }

    /// Applies `retries` and the app names `apps` from now on.
    mutating func apply(_ retries: RetryPolicy, for apps: Set<String>) {
        self.retries = retries
        self.apps = apps
    }

    // MARK: Ends

    /// Returns the settlement of the event at `origin` that the token of `draft` answers; `output` publishes the token.
    ///
    /// - Parameter reportedAt: the time of the first report that the token answers; nil if it answers none.
    static func minted(
        _ draft: Draft, _ output: OutputRecord, at origin: RecordPosition, reportedAt: UnixTime?
    ) -> Settlement {
        let event = draft.request.event
        return Settlement(
            origin: origin, eventID: event.envelope.id, app: draft.request.app.name, outcome: .minted, output: output,
            algorithm: draft.key.algorithm, reason: event.reason, signer: event.signer, reportedAt: reportedAt,
            isClockSkew: draft.ticket.isClockSkew, hasUnreadableTime: event.envelope.countsUnreadableTime)
    }

    /// Returns the settlement of an event that gets no token now: a retry if one may succeed, else a dead letter.
    ///
    /// - Parameter event: the decoded event; nil if its record could not be read.
    mutating func settle(
        _ ending: Ending, of record: InputRecord, _ event: ReadEvent?, at now: UnixTime
    ) -> Settlement {
        switch ending {
        case .skipped(let why): return answered(.skipped(why), record, event)
        case .superseded(let why): return answered(.superseded(why), record, event)
        case .failed(let rejection, let stage, let refused) where !rejection.code.isRetriable:
            return Attempt(record, event, at: stage, now).deadLettered(rejection, knownApp(event), refused)
        case .failed(let rejection, let stage, _):
            let attempt = Attempt(record, event, at: stage, now)
            let count = attempt.provenance.attempts + 1
            let wait = retries.wait(
                afterAttempt: count, firstFailure: attempt.firstFailure, now: now, random: &random)
            return end(
                attempt, wait, .failed(rejection.code), rejection.detail,
                or: Rejection(
                    .retriesExhausted,
                    "after \(count.of("attempt")); the last one: \(rejection.code.rawValue): \(rejection.detail)"))
        case .suspended:
            let attempt = Attempt(record, event, at: .admit, now)
            let wait = retries.wait(
                suspendedFrom: record.tier, firstFailure: attempt.firstFailure, now: now, random: &random)
            return end(
                attempt, wait, .appSuspended, "the app's events wait",
                or: Rejection(
                    .appSuspended,
                    "the app's events wait, and this one has waited for as long as retries.deadline allows"))
        case .awaits(let moment, _):
            let attempt = Attempt(record, event, at: .resolve, now)
            let wait = retries.wait(for: moment, firstFailure: attempt.firstFailure, now: now, random: &random)
            return end(
                attempt, wait, .awaitingLookup, "the vendor has not been asked yet",
                or: Rejection(.lookupFailed, "the vendor did not answer within the event's deadline"))
        }
    }

    private func answered(_ outcome: Outcome, _ record: InputRecord, _ event: ReadEvent?) -> Settlement {
        Settlement(
            origin: record.origin, eventID: event?.envelope.id, app: event?.envelope.app, outcome: outcome, output: nil,
            reason: event?.reason, signer: event?.signer,
            hasUnreadableTime: event?.envelope.countsUnreadableTime ?? false)
    }

    /// Returns the settlement of a retry after `wait`. Without a wait, returns a dead letter with the reason
    /// `otherwise`.
    private func end(
        _ attempt: Attempt, _ wait: RetryPolicy.Wait?, _ deferral: Deferral, _ detail: String,
        or otherwise: @autoclosure () -> Rejection
    ) -> Settlement {
        guard let wait else { return attempt.deadLettered(otherwise(), knownApp(attempt.event), nil) }
        return attempt.deferred(wait, deferral, detail, knownApp(attempt.event))
    }

    /// Returns the event's app if it is configured. Any other name comes from outside and must not become a label.
    private func knownApp(_ event: ReadEvent?) -> String? {
        event.flatMap { apps.contains($0.envelope.app) ? $0.envelope.app : nil }
    }
}

/// An attempt to answer an event, which failed at a stage.
private struct Attempt {
    let record: InputRecord
    let event: ReadEvent?
    let provenance: Provenance
    let stage: Stage
    let now: UnixTime
    var firstFailure: UnixTime { provenance.firstFailedAt ?? now }

    init(_ record: InputRecord, _ event: ReadEvent?, at stage: Stage, _ now: UnixTime) {
        self.record = record
        self.event = event
        provenance = event?.envelope.provenance ?? Provenance(record)
        self.stage = stage
        self.now = now
    }

    func deferred(
        _ wait: RetryPolicy.Wait, _ deferral: Deferral, _ detail: String, _ app: String?
    ) -> Settlement {
        let hop = RetryRecord(
            record: record, provenance: provenance, wait: wait, deferral: deferral, stage: stage, time: now)
        return settlement(app, .deferred(tier: wait.tier, deferral), hop.output, detail, notBefore: wait.notBefore)
    }

    func deadLettered(_ rejection: Rejection, _ app: String?, _ refused: RefusedToken?) -> Settlement {
        let letter = DeadLetter(record, provenance, rejection, at: stage, on: now, refused: refused)
        return settlement(app, .deadLettered(rejection.code), letter.output, rejection.detail)
    }

    private func settlement(
        _ app: String?, _ outcome: Outcome, _ output: OutputRecord, _ detail: String, notBefore: UnixTime? = nil
    ) -> Settlement {
        Settlement(
            origin: record.origin, eventID: event?.envelope.id, app: app, outcome: outcome, output: output,
            detail: detail,
            stage: stage, notBefore: notBefore, reason: event?.reason, signer: event?.signer,
            hasUnreadableTime: event?.envelope.countsUnreadableTime ?? false)
    }
}

// MARK: Records that a topic does not take

extension Settler {
    /// Returns the settlement to try next if a topic refuses the record of `settlement`. See `Settlement.byReference`.
    static func byReference(_ settlement: Settlement, _ record: InputRecord, at time: UnixTime) -> Settlement? {
        guard let output = settlement.output, !DeadLetter.isReference(output) else { return nil }
        switch settlement.outcome {
        case .skipped, .superseded: return nil
        case .deferred(_, let deferral):
            let code: ErrorCode =
                switch deferral {
                case .failed(let code): code
                case .appSuspended: .appSuspended
                case .awaitingLookup: .lookupFailed
                }
            let rejection = Rejection(code, "the event is too large for the retry topic, where it should have waited")
            return smaller(settlement, rejection, .settle, DeadLetter(record, rejection, at: .settle, on: time).output)
        case .minted:
            let rejection = Rejection(.mintFailed, "the token's record is larger than its topic takes")
            return smaller(settlement, rejection, .settle, DeadLetter(record, rejection, at: .settle, on: time).output)
        case .deadLettered(let code):
            let rejection = Rejection(code, settlement.detail ?? "")
            let stage = settlement.stage ?? .settle
            let refused = RefusedToken(output.body)
            let letter = DeadLetter(record, rejection, at: stage, on: time, refused: refused)
            return smaller(settlement, rejection, stage, letter.reference)
        }
    }

    private static func smaller(
        _ settlement: Settlement, _ rejection: Rejection, _ stage: Stage, _ output: OutputRecord
    ) -> Settlement {
        Settlement(
            origin: settlement.origin, eventID: settlement.eventID, app: settlement.app,
            outcome: .deadLettered(rejection.code), output: output, detail: rejection.detail, stage: stage,
            reason: settlement.reason, signer: settlement.signer, hasUnreadableTime: settlement.hasUnreadableTime)
    }
}
