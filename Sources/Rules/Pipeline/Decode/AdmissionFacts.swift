import AdapterKit

/// The facts about an event that admission decides by. The reader collects them once per event.
struct AdmissionFacts: Sendable {
    let app: String
    /// The subject's id in the memory of recent tokens.
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
