import AdapterKit

/// Puts events' ends into settlements: what is published for each, and whether it is tried again. Nothing else makes a settlement.
struct Settler: Sendable {
    private var retries: RetryPolicy
    private var apps: Set<String>
    /// Where jitter comes from.
    private var random: AnyGenerator

    init(retries: RetryPolicy, apps: Set<String>, random: AnyGenerator) {
        self.retries = retries
        self.apps = apps
        self.random = random
    }

    /// Goes on by `retries`, for the apps called `apps`.
    mutating func goOn(by retries: RetryPolicy, for apps: Set<String>) {
        self.retries = retries
        self.apps = apps
    }

    func settled(_ record: InputRecord, _ event: Envelope, _ outcome: Outcome) -> Settlement {
        Self.settlement(record, event, app: event.app, outcome, nil)
    }

    /// The end of an event at `origin` that the token of `draft` answers, which `output` publishes.
    static func minted(
        _ draft: Draft, _ output: OutputRecord, at origin: RecordPosition, reportedAt: UnixTime?
    ) -> Settlement {
        let event = draft.request.event
        return Settlement(
            origin: origin, eventID: event.id, app: draft.request.app.name, outcome: .minted, output: output,
            algorithm: draft.key.algorithm, reason: event.reason, signer: event.signer, reportedAt: reportedAt,
            isClockSkew: draft.ticket.isClockSkew)
    }

    /// The end of an event that failed: another try where that may help, else the dead letters.
    mutating func failed(
        _ record: InputRecord, _ event: Envelope?, _ rejection: Rejection, _ stage: Stage, _ now: UnixTime,
        refused: RefusedToken? = nil
    ) -> Settlement {
        guard rejection.code.isRetriable else {
            return deadLettered(record, event, rejection, stage, now, refused: refused)
        }
        let provenance = Provenance(record)
        let attempt = provenance.attempts + 1
        let wait = retries.wait(
            afterAttempt: attempt, firstFailure: provenance.firstFailedAt ?? now, now: now, random: &random)
        guard let wait else {
            let exhausted = Rejection(
                .retriesExhausted,
                "after \(attempt) attempts; the last one: \(rejection.code.rawValue): \(rejection.detail)")
            return deadLettered(record, event, exhausted, stage, now)
        }
        return deferred(record, event, provenance, wait, .failed(rejection.code), stage, rejection.detail, now)
    }

    mutating func suspended(_ record: InputRecord, _ event: Envelope, _ now: UnixTime) -> Settlement {
        let provenance = Provenance(record)
        let wait = retries.wait(
            suspendedFrom: record.tier, firstFailure: provenance.firstFailedAt ?? now, now: now, random: &random)
        guard let wait else {
            let rejection = Rejection(
                .appSuspended, "the app's events wait, and this one has waited for as long as retries.deadline allows")
            return deadLettered(record, event, rejection, .admit, now)
        }
        return deferred(record, event, provenance, wait, .appSuspended, .admit, "the app's events wait", now)
    }

    private func deferred(
        _ record: InputRecord, _ event: Envelope?, _ provenance: Provenance, _ wait: RetryPolicy.Wait,
        _ deferral: Deferral, _ stage: Stage, _ detail: String, _ now: UnixTime
    ) -> Settlement {
        let hop = RetryRecord(
            record: record, provenance: provenance, wait: wait, deferral: deferral, stage: stage, time: now)
        return Self.settlement(
            record, event, app: knownApp(event), .deferred(tier: wait.tier, deferral), hop.output, stage, detail)
    }

    private func deadLettered(
        _ record: InputRecord, _ event: Envelope?, _ rejection: Rejection, _ stage: Stage, _ now: UnixTime,
        refused: RefusedToken? = nil
    ) -> Settlement {
        let letter = DeadLetter(record, rejection, at: stage, on: now, refused: refused)
        return Self.settlement(
            record, event, app: knownApp(event), .deadLettered(rejection.code), letter.output, stage, rejection.detail)
    }

    private static func settlement(
        _ record: InputRecord, _ event: Envelope?, app: String?, _ outcome: Outcome, _ output: OutputRecord?,
        _ stage: Stage? = nil, _ detail: String? = nil
    ) -> Settlement {
        Settlement(
            origin: record.origin, eventID: event?.id, app: app, outcome: outcome, output: output, detail: detail,
            stage: stage, reason: event?.reason, signer: event?.signer)
    }

    /// A name that is not configured comes from outside and is no label.
    private func knownApp(_ event: Envelope?) -> String? { event.flatMap { apps.contains($0.app) ? $0.app : nil } }

    /// An event that comes back when the vendor should have answered, about `moment`.
    ///
    /// - Returns: its end, and when it comes back; nil where its time is over.
    mutating func awaiting(
        _ moment: UnixTime, _ record: InputRecord, _ event: Envelope, _ now: UnixTime
    ) -> (settlement: Settlement, comesBack: UnixTime?) {
        let provenance = Provenance(record)
        let wait = retries.wait(
            for: moment, firstFailure: provenance.firstFailedAt ?? now, now: now, random: &random)
        guard let wait else {
            let rejection = Rejection(.lookupFailed, "the vendor did not answer within the event's deadline")
            return (deadLettered(record, event, rejection, .resolve, now), nil)
        }
        let detail = "the vendor has not been asked yet"
        return (
            deferred(record, event, provenance, wait, .awaitingLookup, .resolve, detail, now), wait.notBefore
        )
    }
}

// MARK: Records that a topic does not take

extension Settler {
    /// The end that is left to try where a topic does not take the record of `settlement`: see `Settlement.byReference`.
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
            reason: settlement.reason, signer: settlement.signer)
    }
}
