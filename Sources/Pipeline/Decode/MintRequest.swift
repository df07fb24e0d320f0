import AdapterKit

/// A token that an event calls for: for whom, and because of which failure. Never changed, and handed on many times.
final class MintRequest: Sendable {
    /// The event that calls for it.
    let event: ReadEvent
    let app: App
    let subject: Subject
    /// The subject key.
    let subjectKey: [UInt8]
    /// The facts that admission decides by.
    let facts: AdmissionFacts
    /// The vendor's word that no token repairs it and that the key is to blame; nil for nearly every event.
    let blame: KeyBlame?
    /// What the edge grants the user's token; nil where it vouches for nobody.
    let grants: Enrichment?
    /// When the failure was reported; nil where there was none, and where nothing but a device's clock says when.
    var reportedAt: UnixTime? { facts.isReissue || event.envelope.producedAt == nil ? nil : facts.observedAt }
    /// The subject, as the memory knows it.
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
        let subjectKey = subject.key(app: app.name)
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

    /// Returns the token of `version` that it reports as refused. A challenge that is asked for too often is none, and its subject gets no
    /// token of a batch job.
    func refusedToken(_ version: String?) -> RefusedToken? {
        guard !facts.isChallenge else { return nil }
        return RefusedToken(ring: app.keyRing, keyID: version, subjectKey: subjectKey)
    }
}
