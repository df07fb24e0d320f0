public import AdapterKit

/// How an event ended. Every event has exactly one.
public enum Outcome: Sendable, Equatable {
    /// A replacement token was published.
    case minted
    /// There was nothing to do; says why.
    case skipped(String)
    /// It could not be answered with a token.
    case deadLettered(ErrorCode)

    /// The outcome's name in logs and metrics.
    public var name: String {
        switch self {
        case .minted: "minted"
        case .skipped: "skipped"
        case .deadLettered: "dead_lettered"
        }
    }
}

/// Where in the pipeline an event failed.
public enum Stage: String, Sendable {
    case decode, admit, resolve, mint, publish
}

/// An event's end: its outcome and what is published for it.
public struct Settlement: Sendable {
    /// Which event.
    public let origin: Origin
    /// The event's id; nil where it could not be read.
    public let eventID: String?
    /// The app it is about, where that is known.
    public let app: String?
    /// How it ended.
    public let outcome: Outcome
    /// What is published; nil where there was nothing to do.
    public let output: OutputRecord?
    /// Why it was dead-lettered, in a line without secrets.
    public let detail: String?
}

extension Settlement {
    /// The same end with a dead letter that only refers to `record`, for a topic that does not take it whole; nil where it
    /// is as small as it can be already.
    public func byReference(_ record: InputRecord, at time: UnixTime) -> Settlement? {
        guard let output, output.value != nil else { return nil }
        let rejection: Rejection
        switch outcome {
        case .deadLettered(let code): rejection = Rejection(code, detail ?? "")
        case .minted: rejection = Rejection(.mintFailed, "the token's record is larger than its topic takes")
        case .skipped: return nil
        }
        let letter = DeadLetter(record, rejection, at: .publish, on: time)
        return Settlement(
            origin: origin, eventID: eventID, app: app, outcome: .deadLettered(rejection.code),
            output: letter.reference,
            detail: rejection.detail)
    }
}
