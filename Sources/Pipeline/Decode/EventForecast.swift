package import AdapterKit

/// What an event comes to as far as its text alone says, for an edge that wants to answer before a worker did.
///
/// Keys are not looked at: who signed a reported token, whether the app is suspended and whether a newer token answers it only
/// the worker knows.
package enum EventForecast: Sendable {
    /// A token for this subject, unless the worker knows better.
    case token(subjectKey: [UInt8], challenge: String?)
    /// Nothing to do. Says why.
    case nothing(String)
    /// It cannot be answered.
    case rejection(Rejection)
    /// It may be one or the other: that hangs on who signed the reported token.
    case open
}

/// Reads events as the worker does.
package struct EventForecaster: Sendable {
    private let reader: EventReader

    /// A forecaster for `apps`.
    package init(apps: [App], maximumBytes: Int, liveTopic: String, bulkTopic: String) {
        let directory = AppDirectory(apps, liveTopic: liveTopic, bulkTopic: bulkTopic)
        reader = EventReader(directory, maximumBytes: maximumBytes)
    }

    /// What the event of `record` comes to.
    package func forecast(_ record: InputRecord, at now: UnixTime) -> EventForecast {
        switch reader.read(record, at: now) {
        case .next(let request) where request.blame == nil:
            .token(subjectKey: request.subjectKey, challenge: request.subject.challenge)
        case .ended(.skipped(let why), _): .nothing(why)
        case .ended(.failed(let rejection, _, _), _):
            switch rejection.code {
            case .unproven, .notFixableByToken: .open
            default: .rejection(rejection)
            }
        case .next, .ended, .follows, .waits: .open
        }
    }
}
