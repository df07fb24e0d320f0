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

/// A device's report that calls for a token, judged by its text alone.
package struct DeviceReport: Sendable, Equatable {
    /// The user's subject key.
    package let subjectKey: [UInt8]
    /// The event's id.
    package let eventID: String
    /// The time at which the report was produced, by its producer's clock; nil where the record has none.
    package let producedAt: UnixTime?
    /// The prefix of the reported token's hash; nil where the report holds none.
    package let failedToken: UInt64?

    /// A report with these parts.
    package init(subjectKey: [UInt8], eventID: String, producedAt: UnixTime?, failedToken: UInt64? = nil) {
        self.subjectKey = subjectKey
        self.eventID = eventID
        self.producedAt = producedAt
        self.failedToken = failedToken
    }
}

/// Reads events like the worker does.
package struct EventForecaster: Sendable {
    private let reader: EventReader

    /// Creates a forecaster for `apps`.
    package init(apps: [App], maximumBytes: Int, liveTopic: String, bulkTopic: String) {
        let directory = AppDirectory(apps, liveTopic: liveTopic, bulkTopic: bulkTopic)
        reader = EventReader(directory, maximumBytes: maximumBytes)
    }

    /// Returns the report in `record` if a worker would answer it with a token; nil for anything else, for a report that answers a
    /// challenge, and for one whose answer hangs on who signed the token in it.
    package func report(in record: InputRecord, at now: UnixTime) -> DeviceReport? {
        guard case .next(let request) = reader.read(record, at: now), request.blame == nil, !request.facts.isReissue,
            !request.facts.isChallenge
        else { return nil }
        return DeviceReport(
            subjectKey: request.subjectKey, eventID: request.event.envelope.id,
            producedAt: request.event.envelope.producedAt, failedToken: request.facts.failedToken)
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
