import AdapterKit

/// A token that an event calls for: for whom, and because of which failure. Never changed, and handed on many times.
final class MintRequest: Sendable {
    /// The event that calls for it.
    let event: Envelope
    let app: App
    let subject: Subject
    /// The subject key.
    let subjectKey: [UInt8]
    /// As whom the memory knows the subject.
    let id: SubjectID
    /// The fact about the failed token that the vendor's code proves.
    let evidence: Evidence
    /// Whether the vendor refused a token: its remedy is to mint once.
    let isRefusal: Bool
    /// Whether the vendor refused the request; otherwise the report is no evidence of anything.
    let isEnforced: Bool
    /// Whether somebody asked for a token, without a failure.
    let isReissue: Bool
    /// The beginning of the failed token's hash, where the report names it.
    let failedToken: UInt64?
    /// Whether the failed token is unexpired and was signed by the version that signs now.
    let isOfActiveKey: Bool
    /// What the edge grants the user's token; nil where it vouches for nobody.
    let grants: Enrichment?
    /// When the failure was observed, within what is believed of a device's clock.
    let observedAt: UnixTime
    /// When the failure was reported; nil where there was none, and where nothing but a device's clock says when.
    var reportedAt: UnixTime? { isReissue || event.producedAt == nil ? nil : observedAt }

    init(
        _ event: Envelope, _ app: App, _ subject: Subject, _ failure: AuthenticationFailure, remedy: Remedy,
        isOfActiveKey: Bool, grants: Enrichment?, observedAt: UnixTime
    ) {
        self.event = event
        self.app = app
        self.subject = subject
        self.isOfActiveKey = isOfActiveKey
        self.grants = grants
        evidence = failure.evidence
        isRefusal = remedy == .mintOnce
        isEnforced = failure.isEnforced
        isReissue = failure.reason == Reissue.reason
        failedToken = failure.failedToken?.hash.prefix
        self.observedAt = observedAt
        subjectKey = subject.key(app: app.name)
        id = subject.challenge == nil ? SubjectID(key: subjectKey) : SubjectID(subject, app: app.name)
    }
}
