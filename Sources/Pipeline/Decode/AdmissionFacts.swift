import AdapterKit

/// The facts about an event that decide whether it gets a token of its own. They are put together once, when the event is read.
struct AdmissionFacts: Sendable {
    let app: String
    /// The subject, as the memory knows it.
    let id: SubjectID
    /// Whether its token answers a challenge.
    let isChallenge: Bool
    let loopGuard: LoopGuard
    /// The fact about the failed token that the vendor's code proves.
    let evidence: Evidence
    /// Whether its remedy is to mint once: the vendor refused a token.
    let isRefusal: Bool
    /// Whether the vendor refused the request; otherwise nothing it reports is evidence.
    let isEnforced: Bool
    /// Whether somebody asked for a token, without a failure.
    let isReissue: Bool
    /// The beginning of the failed token's hash, where the report names it.
    let failedToken: UInt64?
    /// Whether the failed token is unexpired and was signed by the version that signs now.
    let isOfActiveKey: Bool
    /// The moment of the failure, within what is believed of a device's clock.
    let observedAt: UnixTime
    /// The fingerprint of the device that reports; zero for a device without a name.
    let device: UInt32
    /// The highest version of a token that the event's producer may have missed.
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

    /// Whether the code itself says that a token was not taken; a code such as "there is no token" does not.
    var saysWhy: Bool { isRefusal || evidence == .expired || evidence == .revoked }

    private static func fingerprint(of device: String) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(device)
        return max(1, UInt32(truncatingIfNeeded: hasher.finalize()))
    }
}
