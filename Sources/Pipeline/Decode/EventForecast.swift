package import AdapterKit

/// The expected result of an event by its content alone, for an edge that answers before a worker does.
///
/// The forecast uses no keys. Only a worker knows the signer of a reported token, whether the app is suspended, and
/// whether a newer token answers the event.
package enum EventForecast: Sendable {
    /// A token for this subject, unless the worker decides otherwise.
    case token(subjectKey: [UInt8], challenge: String?)
    /// Nothing to do; the string is the reason.
    case nothing(String)
    /// A rejection: no token can answer the event.
    case rejection(Rejection)
    /// Unknown: the result depends on the signer of the reported token.
    case open
}

/// Reads events like the worker does.
package struct EventForecaster: Sendable {
    private let reader: EventReader

    /// Creates a forecaster for `apps`.
    package init(apps: [App], maximumBytes: Int, liveTopic: String, bulkTopic: String) {
        let directory = AppDirectory(apps, liveTopic: liveTopic, bulkTopic: bulkTopic)
        reader = EventReader(directory, maximumBytes: maximumBytes)
    }

    /// Returns the expected result of the event in `record`.
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
