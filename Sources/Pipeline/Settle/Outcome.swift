public import AdapterKit

/// How an event ended. Every event has exactly one.
public enum Outcome: Sendable, Hashable {
    /// A replacement token was published.
    case minted
    /// A newer token answers it already.
    case superseded(Supersession)
    /// There was nothing to do; says why.
    case skipped(String)
    /// It waits in a retry tier, counted from the shortest, and is an event again after that.
    case deferred(tier: Int, Deferral)
    /// It could not be answered with a token.
    case deadLettered(ErrorCode)

    /// The outcome's name in logs and metrics.
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

/// Why an event waits in a retry tier.
public enum Deferral: Sendable, Hashable {
    /// An attempt failed with a code that may pass.
    case failed(ErrorCode)
    /// Its app is suspended.
    case appSuspended
    /// The vendor has not been asked about its user yet, or has not answered.
    case awaitingLookup

    /// The reason's name in metrics and in an event's history: the code, `app_suspended` or `awaiting_lookup`.
    public var name: String {
        switch self {
        case .failed(let code): code.rawValue
        case .appSuspended: "app_suspended"
        case .awaitingLookup: "awaiting_lookup"
        }
    }

    /// Whether it counts as one of the event's attempts: nothing was tried for it otherwise.
    var isAttempt: Bool { if case .failed = self { true } else { false } }
}

/// How far a batch brought an event.
public enum Progress: Sendable {
    /// To its end.
    case ended(Settlement)
    /// It waits in its place for an answer, until this moment and only while nobody waits behind it.
    case waits(until: UnixTime)
}

/// An event's end: its outcome and what is published for it. Never changed, and handed on like its record.
public final class Settlement: Sendable {
    /// Which event.
    public let origin: RecordPosition
    /// The event's id; nil where it could not be read.
    public let eventID: String?
    /// The app it is about, where that is known.
    public let app: String?
    /// How it ended.
    public let outcome: Outcome
    /// What is published; nil where there was nothing to do.
    public let output: OutputRecord?
    /// Why it was dead-lettered or deferred, in a line without secrets.
    public let detail: String?
    /// The stage at which it failed; nil where it did not.
    let stage: Stage?
    /// The moment it may be taken again; nil where it is no retry.
    let notBefore: UnixTime?
    /// What the token was signed with, where one was minted.
    public let algorithm: Algorithm?
    /// The vendor's own name of the failure; nil where no report was understood.
    public let reason: String?
    /// Who signed the token that a report held; nil where no report was understood, and for one that was counted before it
    /// waited in a retry tier.
    public let signer: TokenSigner?
    /// When the first of the reports that its token answers was made; nil where no token was minted, and for a token that nobody
    /// reported a failure for.
    public let reportedAt: UnixTime?
    /// Whether the report calls an unexpired token of ours expired: the device's clock is wrong, or its SDK names the wrong
    /// token.
    public let isClockSkew: Bool

    init(
        origin: RecordPosition, eventID: String?, app: String?, outcome: Outcome, output: OutputRecord?,
        detail: String? = nil, stage: Stage? = nil, notBefore: UnixTime? = nil, algorithm: Algorithm? = nil,
        reason: String? = nil,
        signer: TokenSigner? = nil, reportedAt: UnixTime? = nil, isClockSkew: Bool = false
    ) {
        self.stage = stage
        self.notBefore = notBefore
        self.reportedAt = reportedAt
        self.isClockSkew = isClockSkew || outcome == .superseded(.clockSkew)
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
}

extension Settlement {
    /// What is left to try where a topic does not take this end's record: for a token, the event among the dead letters,
    /// whole; for a dead letter, one that only refers to `record`; nil where it is as small as it can be already.
    public func byReference(_ record: InputRecord, at time: UnixTime) -> Settlement? {
        Settler.byReference(self, record, at: time)
    }
}
