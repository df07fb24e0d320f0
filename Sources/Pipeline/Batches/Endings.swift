import AdapterKit

/// Puts events' ends into settlements: what is published for each, and whether it is tried again.
struct Endings: Sendable {
    private let retries: RetryPolicy
    private let apps: Set<String>
    /// Where jitter comes from.
    private var random: AnyGenerator

    init(retries: RetryPolicy, apps: Set<String>, random: AnyGenerator) {
        self.retries = retries
        self.apps = apps
        self.random = random
    }

    func settled(_ record: InputRecord, _ event: Event, _ outcome: Outcome) -> Settlement {
        Settlement(origin: record.origin, eventID: event.id, app: event.app, outcome: outcome, output: nil)
    }

    /// The end of an event that failed: another try where that may help, else the dead letters.
    mutating func failed(
        _ record: InputRecord, _ event: Event?, _ rejection: Rejection, _ stage: Stage, _ now: UnixTime
    ) -> Settlement {
        guard rejection.code.isRetriable else { return deadLettered(record, event, rejection, stage, now) }
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

    mutating func suspended(_ record: InputRecord, _ event: Event, _ now: UnixTime) -> Settlement {
        guard let wait = retries.wait(suspendedFrom: record.tier, now: now, random: &random) else {
            let rejection = Rejection(.rejectedByVendor, "the app is suspended, and there is no retry tier to wait in")
            return deadLettered(record, event, rejection, .admit, now)
        }
        return deferred(
            record, event, Provenance(record), wait, .appSuspended, .admit, "the app is suspended", now)
    }

    private func deferred(
        _ record: InputRecord, _ event: Event?, _ provenance: Provenance, _ wait: RetryPolicy.Wait,
        _ deferral: Deferral, _ stage: Stage, _ detail: String, _ now: UnixTime
    ) -> Settlement {
        let hop = RetryRecord(
            record: record, provenance: provenance, wait: wait, deferral: deferral, stage: stage, time: now)
        return Settlement(
            origin: record.origin, eventID: event?.id, app: knownApp(event),
            outcome: .deferred(tier: wait.tier, deferral), output: hop.output, detail: detail)
    }

    private func deadLettered(
        _ record: InputRecord, _ event: Event?, _ rejection: Rejection, _ stage: Stage, _ now: UnixTime
    ) -> Settlement {
        let letter = DeadLetter(record, rejection, at: stage, on: now)
        return Settlement(
            origin: record.origin, eventID: event?.id, app: knownApp(event), outcome: .deadLettered(rejection.code),
            output: letter.output, detail: rejection.detail)
    }

    /// A name that is not configured comes from outside and is no label.
    private func knownApp(_ event: Event?) -> String? { event.flatMap { apps.contains($0.app) ? $0.app : nil } }

    /// An event that comes back when the vendor should have answered, about `moment`.
    ///
    /// - Returns: its end, and when it comes back; nil where its time is over.
    mutating func awaiting(
        _ moment: UnixTime, _ record: InputRecord, _ event: Event, _ now: UnixTime
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
