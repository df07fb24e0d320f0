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
    /// What is left to try where a topic does not take this end's record: for a token, the event among the dead letters,
    /// whole; for a dead letter, one that only refers to `record`; nil where it is as small as it can be already.
    public func byReference(_ record: InputRecord, at time: UnixTime) -> Settlement? {
        guard let output, !DeadLetter.isReference(output) else { return nil }
        switch outcome {
        case .skipped: return nil
        case .minted:
            let rejection = Rejection(.mintFailed, "the token's record is larger than its topic takes")
            return ending(rejection, DeadLetter(record, rejection, at: .publish, on: time).output)
        case .deadLettered(let code):
            let rejection = Rejection(code, detail ?? "")
            let stage = DeadLetter.stage(of: output) ?? .publish
            return ending(rejection, DeadLetter(record, rejection, at: stage, on: time).reference)
        }
    }

    private func ending(_ rejection: Rejection, _ output: OutputRecord) -> Settlement {
        Settlement(
            origin: origin, eventID: eventID, app: app, outcome: .deadLettered(rejection.code), output: output,
            detail: rejection.detail)
    }
}
