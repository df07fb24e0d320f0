import AdapterKit

/// A request for a token: its subject and the failure that it answers. Immutable and shared.
final class MintRequest: Sendable {
    let event: ReadEvent
    let app: App
    let subject: Subject
    let subjectKey: [UInt8]
    let facts: AdmissionFacts
    /// The vendor's statement that no token fixes the failure and that the key is the cause; nil for almost every
    /// event.
    let blame: KeyBlame?
    /// The edge's grants for the user's token; nil if the edge vouches for no user.
    let grants: Enrichment?
    /// The time of the report; nil for an event without a failure, and if only a device's clock states the time.
    var reportedAt: UnixTime? { facts.isReissue || event.envelope.producedAt == nil ? nil : facts.observedAt }
    var id: SubjectID { facts.id }

    init(
        _ event: ReadEvent, _ app: App, _ subject: Subject, _ failure: AuthenticationFailure, isRefusal: Bool,
        blame: KeyBlame?, isOfActiveKey: Bool, grants: Enrichment?, observedAt: UnixTime
    ) {
        self.event = event
        self.app = app
        self.subject = subject
        self.blame = blame
        self.grants = grants
        let subjectKey = subject.key(after: app.keyStart)
        self.subjectKey = subjectKey
        let isChallenge = subject.challenge != nil
        facts = AdmissionFacts(
            app: app.name, id: isChallenge ? SubjectID(subject, app: app.name) : SubjectID(key: subjectKey),
            isChallenge: isChallenge, loopGuard: app.loopGuard, evidence: failure.evidence,
            isRefusal: isRefusal, isEnforced: failure.isEnforced,
            isReissue: failure.reason == Reissue.reason, failedToken: failure.failedToken?.hash.prefix,
            isOfActiveKey: isOfActiveKey, observedAt: observedAt, device: event.envelope.device,
            unseen: event.envelope.unseen)
    }

    /// Returns the reported token of `version` as a refused one; nil for a challenge. A challenge that is requested too
    /// often is no refused token, and batch jobs mint no tokens for its subject.
    func refusedToken(_ version: String?) -> RefusedToken? {
        guard !facts.isChallenge else { return nil }
        return RefusedToken(ring: app.keyRing, keyID: version, subjectKey: subjectKey)
    }
}

/// The facts about an event that admission decides by. The reader collects them once per event.
struct AdmissionFacts: Sendable {
    let app: String
    let id: SubjectID
    /// Whether the event's token answers a challenge.
    let isChallenge: Bool
    let loopGuard: LoopGuard
    /// The fact about the failed token that the vendor's code proves.
    let evidence: Evidence
    /// Whether the event's remedy is to mint once: the vendor refused a token.
    let isRefusal: Bool
    /// Whether the vendor refused the request. If it did not, its report is no evidence.
    let isEnforced: Bool
    /// Whether the event requests a token without a failure.
    let isReissue: Bool
    /// The first bytes of the failed token's hash, if the report names it.
    let failedToken: UInt64?
    /// Whether the failed token is unexpired and signed by the active version.
    let isOfActiveKey: Bool
    /// The time of the failure, within the trusted range of a device's clock.
    let observedAt: UnixTime
    /// The fingerprint of the reporting device; zero for a device without a name.
    let device: UInt32
    /// The highest version of a token that the event's producer may have missed; nil for none.
    let unseen: Int64?

    init(
        app: String, id: SubjectID, isChallenge: Bool, loopGuard: LoopGuard, evidence: Evidence, isRefusal: Bool,
        isEnforced: Bool = true, isReissue: Bool, failedToken: UInt64?, isOfActiveKey: Bool = false,
        observedAt: UnixTime, device: String?, unseen: Int64? = nil
    ) {
        self.app = app
        self.id = id
        self.isChallenge = isChallenge
        self.loopGuard = loopGuard
        self.evidence = evidence
        self.isRefusal = isRefusal
        self.isEnforced = isEnforced
        self.isReissue = isReissue
        self.failedToken = failedToken
        self.isOfActiveKey = isOfActiveKey
        self.observedAt = observedAt
        self.device = device.map(Self.fingerprint) ?? 0
        self.unseen = unseen
    }

    /// Whether the code itself states that the vendor refused a token. A code such as "there is no token" does not.
    var saysWhy: Bool { isRefusal || evidence == .expired || evidence == .revoked }

    private static func fingerprint(of device: String) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(device)
        return max(1, UInt32(truncatingIfNeeded: hasher.finalize()))
    }
}

/// A rejection whose vendor code states that no token fixes the failure and that the key is the cause.
struct KeyBlame: Sendable {
    let rejection: Rejection
    /// The version that signed the reported token; nil if the report does not show it.
    let version: String?
}

/// The id of an app's subject in memory: a 128-bit hash of the subject key, with a seed of this process.
///
/// A Sip hash with the standard library's random per-process seed, finished in two ways. No outsider can cause a collision on purpose.
/// Among a million subjects, one happens by chance once in 10^26.
struct SubjectID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
}

extension SubjectID {
    /// Creates the id of the subject with the subject key `key`.
    init(key: [UInt8]) {
        var first = Hasher()
        key.withUnsafeBytes { first.combine(bytes: $0) }
        var second = first
        second.combine(1)
        high = UInt64(bitPattern: Int64(first.finalize()))
        low = UInt64(bitPattern: Int64(second.finalize()))
    }

    /// Creates the id of `subject` of `app`. A user with a challenge has the same id for every nonce.
    init(_ subject: Subject, app: String) { self.init(key: subject.withoutChallenge.key(app: app)) }
}

/// A stage's result for an event.
enum Disposition<Next: Sendable>: Sendable {
    /// The event continues to the next stage.
    case next(Next)
    /// The event gets no token. `of` is nil if the record could not be read.
    indirect case ended(Ending, of: ReadEvent?)
    /// The event shares the result of an earlier event of its batch, the draft at place `leader`: its token, or its
    /// failure.
    case follows(MintRequest, leader: Int)
    /// The event waits in place for an answer, until this moment.
    case waits(until: UnixTime)

    /// Passes the result to the next stage if the event continues.
    @inline(__always)
    func then<Other>(_ stage: (Next) -> Disposition<Other>) -> Disposition<Other> {
        switch self {
        case .next(let next): stage(next)
        case .ended(let ending, let event): .ended(ending, of: event)
        case .follows(let request, let leader): .follows(request, leader: leader)
        case .waits(let moment): .waits(until: moment)
        }
    }
}

/// The ending of an event that gets no token now.
enum Ending: Sendable, Equatable {
    /// A stage failed. `refused` is the token that the vendor refused, if that is the reason.
    case failed(Rejection, Stage, refused: RefusedToken? = nil)
    /// There is nothing to do; the string is the reason.
    case skipped(String)
    /// A newer token answers the event.
    case superseded(Supersession)
    case suspended
    /// The vendor's answer about this user is expected at about this time.
    case awaits(UnixTime, about: SubjectID)
}

/// The reason that an event needs no token of its own: a newer token already answers it.
public enum Supersession: String, Sendable, CaseIterable {
    /// The same batch answers another report of the same failure.
    case sameBatch = "same_batch"
    /// The event follows the latest token so closely that the token answers its failure.
    case burst
    /// The event was observed before the latest token was minted.
    case observedEarlier = "observed_earlier"
    /// The event names a token that the latest one replaced.
    case olderToken = "older_token"
    /// The subject has reached the limit of tokens in a row; the latest one is at most a minute old.
    case recentToken = "recent_token"
    /// The event calls the latest token expired, but it is unexpired: the device's clock is wrong or its SDK names the
    /// wrong token. The key is not the cause. One more token was minted within the loop window.
    case clockSkew = "clock_skew"

    /// Whether several reports of one failure were coalesced, in contrast to a late report.
    public var isCoalesced: Bool { self == .sameBatch || self == .burst }
}
