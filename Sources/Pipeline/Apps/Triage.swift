import AdapterKit

/// What an event calls for, once its app's adapter has read it.
///
/// Nearly all of them are minted for: the others' parts lie elsewhere, so that a batch of these stays small.
enum Triage: Sendable {
    /// Mint for this subject.
    case mint(MintOrder)
    /// Nothing to do. Says why.
    indirect case skip(Event, String)
    /// It cannot be answered.
    indirect case reject(Event, Rejection, Stage)

    /// Routes `event` to its app, lets the adapter read it and takes the remedy at its word.
    init(_ event: Event, apps: [String: App], now: UnixTime) {
        guard let app = apps[event.app] else {
            self = .reject(event, Rejection(.unknownApp, "no app of that name is configured"), .decode)
            return
        }
        // A clock that runs ahead must not stretch a deadline.
        let observedAt = min(event.observedAt ?? now, now)
        let report = Report(event.report, observedAt: observedAt)
        let adapter = app.adapter
        let reissue = Reissue.read(report, for: adapter)
        switch reissue ?? adapter.read(report) {
        case .rejected(let rejection):
            if rejection.code == .missingUser, app.missingUser == .skip, reissue == nil {
                self = .skip(event, "the report names no user")
            } else {
                self = .reject(event, rejection, .decode)
            }
        case .failure(let failure): self = Self.remedy(of: failure, event, app, observedAt, now)
        }
    }

    private static func remedy(
        of failure: AuthenticationFailure, _ event: Event, _ app: App, _ observedAt: UnixTime, _ now: UnixTime
    ) -> Triage {
        switch failure.remedy {
        case .notForUs(let why): return .skip(event, why)
        case .notFixable(let why):
            return .reject(event, Rejection(.notFixableByToken, "\(failure.reason): \(why)"), .resolve)
        case .mint, .mintOnce: break
        }
        if let deadline = failure.deadline, deadline <= now {
            return .reject(
                event, Rejection(.challengeExpired, "the challenge's deadline, \(deadline), has passed"), .admit)
        }
        guard let subject = failure.subject else {
            return .reject(event, Rejection(.malformedReport, "the report names nobody to mint for"), .decode)
        }
        return .mint(MintOrder(event, app, subject, failure, observedAt: observedAt))
    }
}

/// A token that an event calls for: for whom, and because of which failure. Never changed, and handed on many times.
final class MintOrder: Sendable {
    /// The event that calls for it.
    let event: Event
    let app: App
    let subject: Subject
    /// The mailbox key.
    let subjectKey: [UInt8]
    /// As whom the memory knows the subject.
    let id: SubjectID
    /// Whether the vendor refused a token: its remedy is to mint once.
    let isRefusal: Bool
    /// Whether somebody asked for a token, without a failure.
    let isReissue: Bool
    /// The beginning of the failed token's hash, where the report names it.
    let failedToken: UInt64?
    let observedAt: UnixTime

    init(
        _ event: Event, _ app: App, _ subject: Subject, _ failure: AuthenticationFailure, observedAt: UnixTime
    ) {
        self.event = event
        self.app = app
        self.subject = subject
        isRefusal = failure.remedy == .mintOnce
        isReissue = failure.reason == Reissue.reason
        failedToken = failure.failedToken?.prefix
        self.observedAt = observedAt
        subjectKey = subject.key(app: app.name)
        id = subject.challenge == nil ? SubjectID(key: subjectKey) : SubjectID(subject, app: app.name)
    }
}
