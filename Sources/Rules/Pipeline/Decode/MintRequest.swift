import AdapterKit

/// A request for a token: its subject and the failure that it answers. Immutable and shared.
final class MintRequest: Sendable {
    /// The event that requests the token.
    let event: ReadEvent
    let app: App
    let subject: Subject
    /// The subject key.
    let subjectKey: [UInt8]
    /// The facts that admission decides by.
    let facts: AdmissionFacts
    /// The vendor's statement that no token fixes the failure and that the key is the cause; nil for almost every
    /// event.
    let blame: KeyBlame?
    /// The edge's grants for the user's token; nil if the edge vouches for no user.
    let grants: Enrichment?
    /// The time of the report; nil for an event without a failure, and if only a device's clock states the time.
    var reportedAt: UnixTime? { facts.isReissue || event.envelope.producedAt == nil ? nil : facts.observedAt }
    /// The subject's id in the memory of recent tokens.
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
