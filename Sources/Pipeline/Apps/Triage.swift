import AdapterKit

/// What an event calls for, once its app's adapter has read it.
enum Triage: Sendable {
    /// Mint for this subject, because of this failure.
    case mint(App, Subject, AuthenticationFailure, observedAt: UnixTime)
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
        return .mint(app, subject, failure, observedAt: observedAt)
    }
}
