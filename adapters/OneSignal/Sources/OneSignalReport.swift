import AdapterKit

/// The report that `onUserJwtInvalidated` hands over, an external id and nothing else, with the members that the app
/// may add. Where the SDK reports nothing (Web and the wrappers), the app sends the same report of its own accord.
struct OneSignalReport {
    private let report: Report
    private let appID: String

    init(_ report: Report, appID: String) {
        self.report = report
        self.appID = appID
    }

    var reading: Reading {
        guard report.root.isObject else { return malformed("the report is not a JSON object") }
        if report.field("externalId", "external_id") == .absent, report.hasMembers(besides: Self.members) {
            return malformed(
                "the report has no \"externalId\" and members OneSignal does not send; is it another vendor's?")
        }
        if let reported = report.field("appId", "app_id").text, !reported.hasSameBytes(as: appID) {
            return malformed("the report is of another OneSignal app than settings.app_id")
        }
        switch report.user("externalId", "external_id") {
        case .unusable(let rejection): return .rejected(rejection)
        case .anonymous: return failure(of: nil, .notForUs("anonymous user"))
        case .identified(let id): return failure(of: Subject(user: id), .mint)
        }
    }

    private func failure(of subject: Subject?, _ remedy: Remedy) -> Reading {
        let hash = report.field("rejectedTokenSha256", "rejected_token_sha256").text.flatMap(TokenHash.init(text:)).map(
            FailedToken.hash)
        return .failure(
            AuthenticationFailure(
                subject: subject, reason: Self.reason, evidence: Self.evidence, remedy: remedy, failedToken: hash))
    }

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }

    /// The reason of every report: the SDK gives none.
    static let reason = "JWT_INVALIDATED"
    /// The server refused the token. A refusal counts after two tokens (`loopGuard`): the cause is then the key or the
    /// app id.
    static let evidence = Evidence.key

    /// The SDK's one member and those the app is asked to add.
    private static let members: Set<String> = [
        "externalId", "external_id", "appId", "app_id", "device", "time", "rejectedTokenSha256",
        "rejected_token_sha256",
    ]
}
