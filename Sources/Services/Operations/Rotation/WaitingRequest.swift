import AdapterKit
import Pipeline
import WorkerConfiguration

/// A device's request for a token that no worker could answer yet: in a retry tier, or a dead letter for a reason that is
/// not its own.
struct WaitingRequest {
    /// The reasons for a dead letter that have nothing to do with its event.
    private static let faults: Set<ErrorCode> = [
        .lookupFailed, .keyUnavailable, .mintFailed, .retriesExhausted, .appSuspended,
    ]

    /// The subject key of the user that the event names.
    let key: [UInt8]
    /// The time of the last attempt.
    let time: UnixTime

    /// The request in `record`, whose headers are those of `letter`; nil for an event of a job, for one that failed by
    /// its own fault, and for one that names no user.
    init?(
        _ record: InputRecord, _ letter: DeadLetterEntry, _ decoder: EventDecoder, _ configuration: Configuration,
        at now: UnixTime
    ) {
        if let code = letter.code, !Self.faults.contains(code) { return nil }
        guard !record.body.has("remint-campaign"), let event = try? decoder.decode(record),
            let app = configuration.apps.first(where: { $0.name == event.envelope.app }),
            case .report(let root) = event.body
        else { return nil }
        let vouched = event.vouched.flatMap { try? app.adapter.user(vouchedBy: $0) }
        let reading = app.adapter.reading(
            of: Report(root, observedAt: min(event.envelope.observedAt ?? now, now), vouched: vouched))
        guard case .failure(let failure) = reading, let subject = failure.subject else { return nil }
        key = subject.key(app: app.name)
        // The last entry's first word, as in `2026-11-21T10:00:00Z mint key_unavailable`.
        let attempt = letter.history.split(separator: " ").suffix(3).first.flatMap { RFC3339.parse(String($0)) }
        time = letter.failedAt ?? attempt ?? now
    }
}
