import AdapterKit

/// What an event calls for, once its app's adapter has read it.
enum Triage: Sendable {
    /// Mint for this subject.
    case mint(MintOrder)
    /// Nothing to do.
    case skip(String)
    /// It cannot be answered.
    case reject(Rejection, Stage)

    /// Routes `event` to its app, lets the adapter read it and takes the remedy at its word.
    init(_ event: Event, apps: [String: App], now: UnixTime) {
        guard let app = apps[event.app] else {
            self = .reject(Rejection(.unknownApp, "no app of that name is configured"), .decode)
            return
        }
        // A clock that runs ahead must not stretch a deadline.
        let observedAt = min(event.observedAt ?? now, now)
        let report = Report(event.report, observedAt: observedAt)
        let reissue = Reissue.read(report, for: app.adapter)
        switch reissue ?? app.adapter.read(report) {
        case .rejected(let rejection):
            if rejection.code == .missingUser, app.missingUser == .skip, reissue == nil {
                self = .skip("the report names no user")
            } else {
                self = .reject(rejection, .decode)
            }
        case .failure(let failure): self = Self.remedy(of: failure, app, observedAt, now)
        }
    }

    private static func remedy(
        of failure: AuthenticationFailure, _ app: App, _ observedAt: UnixTime, _ now: UnixTime
    ) -> Triage {
        switch failure.remedy {
        case .notForUs(let why): return .skip(why)
        case .notFixable(let why): return .reject(Rejection(.notFixableByToken, "\(failure.reason): \(why)"), .resolve)
        case .mint, .mintOnce: break
        }
        if let deadline = failure.deadline, deadline <= now {
            return .reject(Rejection(.challengeExpired, "the challenge's deadline, \(deadline), has passed"), .admit)
        }
        guard let subject = failure.subject else {
            return .reject(Rejection(.malformedReport, "the report names nobody to mint for"), .decode)
        }
        return .mint(MintOrder(app, subject, failure, observedAt: observedAt))
    }
}

/// A token that an event calls for: for whom, and because of which failure. Never changed, and handed on many times.
final class MintOrder: Sendable {
    let app: App
    let subject: Subject
    /// The mailbox key.
    let subjectKey: [UInt8]
    /// As whom the memory knows the subject.
    let id: SubjectID
    let failure: AuthenticationFailure
    let observedAt: UnixTime

    init(_ app: App, _ subject: Subject, _ failure: AuthenticationFailure, observedAt: UnixTime) {
        self.app = app
        self.subject = subject
        self.failure = failure
        self.observedAt = observedAt
        subjectKey = subject.key(app: app.name)
        id = subject.challenge == nil ? SubjectID(key: subjectKey) : SubjectID(subject, app: app.name)
    }
}
