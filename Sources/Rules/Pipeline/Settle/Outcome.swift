public import AdapterKit

/// The outcome of an event. Each event has one.
public enum Outcome: Sendable, Hashable {
    case minted
    /// A newer token already answers the event.
    case superseded(Supersession)
    /// Nothing had to be done; the string is the reason.
    case skipped(String)
    /// The event waits in a retry tier, counted from the shortest, and is consumed again afterwards.
    case deferred(tier: Int, Deferral)
    /// No token could answer the event.
    case deadLettered(ErrorCode)

    public var name: String {
        switch self {
        case .minted: "minted"
        case .superseded: "superseded"
        case .skipped: "skipped"
        case .deferred: "deferred"
        case .deadLettered: "dead_lettered"
        }
    }
}

/// The reason that an event waits in a retry tier.
public enum Deferral: Sendable, Hashable {
    case failed(ErrorCode)
    case appSuspended
    case awaitingLookup

    /// The reason's name in metrics and in an event's history: the code, `app_suspended` or `awaiting_lookup`.
    public var name: String {
        switch self {
        case .failed(let code): code.rawValue
        case .appSuspended: "app_suspended"
        case .awaitingLookup: "awaiting_lookup"
        }
    }

    /// Whether the wait counts as one of the event's attempts. Without a failure, nothing was attempted.
    var isAttempt: Bool { if case .failed = self { true } else { false } }
}

/// The settlement of an event: its outcome and the record that is published for it. Immutable; passed by reference,
/// like its record.
public final class Settlement: Sendable {
    public let origin: RecordPosition
    /// The event's id; nil if it could not be read.
    public let eventID: String?
    /// The event's app, if it is known.
    public let app: String?
    public let outcome: Outcome
    /// The record to publish; nil if there is none.
    public let output: OutputRecord?
    /// The reason that the event was dead-lettered or deferred, in one line without secrets.
    public let detail: String?
    /// The stage at which the event failed; nil if it did not fail.
    let stage: Stage?
    /// The earliest time of the next attempt; nil if there is none.
    let notBefore: UnixTime?
    /// The algorithm of the minted token; nil without one.
    public let algorithm: Algorithm?
    /// The vendor's own name of the failure; nil if no report was understood.
    public let reason: String?
    /// The signer of the reported token; nil if no report was understood, and for a report that was counted before it
    /// waited in a retry tier.
    package let signer: TokenSigner?
    /// The time of the first report that the token answers; nil without a minted token, and for a token that answers no
    /// report.
    public let reportedAt: UnixTime?
    /// Whether the report calls one of our unexpired tokens expired: the device's clock is wrong, or its SDK names the
    /// wrong token.
    public let isClockSkew: Bool
    /// Whether the event has a time of the failure that nobody can read; false for an event that was counted before it
    /// waited in a retry tier.
    package let hasUnreadableTime: Bool

    init(
        origin: RecordPosition, eventID: String?, app: String?, outcome: Outcome, output: OutputRecord?,
        detail: String? = nil, stage: Stage? = nil, notBefore: UnixTime? = nil, algorithm: Algorithm? = nil,
        reason: String? = nil,
        signer: TokenSigner? = nil, reportedAt: UnixTime? = nil, isClockSkew: Bool = false,
        hasUnreadableTime: Bool = false
    ) {
        self.stage = stage
        self.notBefore = notBefore
        self.reportedAt = reportedAt
        self.isClockSkew = isClockSkew || outcome == .superseded(.clockSkew)
        self.hasUnreadableTime = hasUnreadableTime
        self.reason = reason
        self.signer = signer
        self.origin = origin
        self.eventID = eventID
        self.app = app
        self.outcome = outcome
        self.output = output
        self.detail = detail
        self.algorithm = algorithm
    }

    /// Returns the settlement to try next if a topic refuses this settlement's record. For a token or a retry, that is
    /// a dead letter with the whole event. For a dead letter, it is a reference to `record`. Returns nil if the record
    /// is a reference already.
    public func byReference(_ record: InputRecord, at time: UnixTime) -> Settlement? {
        Settler.byReference(self, record, at: time)
    }
}

extension Outcome {
    package static let names = ["minted", "superseded", "skipped", "deferred", "dead_lettered"]

    /// The code of the outcome in metrics: a dead letter's code, or the reason of a deferral or a supersession.
    package var code: String {
        switch self {
        case .minted, .skipped: ""
        case .superseded(let why): why.rawValue
        case .deferred(_, let deferral): deferral.name
        case .deadLettered(let code): code.rawValue
        }
    }
}
