import AdapterKit

/// A Braze SDK's report in any of its spellings.
///
/// Web, Swift, Android, React Native, Cordova, Unity and Flutter each name the same four values differently; Flutter
/// hands them over as text. The first alias that holds a value wins.
struct BrazeReport {
    private let report: Report

    init(_ report: Report) { self.report = Self.unwrapped(report) }

    var reading: Reading {
        guard report.root.isObject else { return malformed("the report is not a JSON object") }
        let code: BrazeCode?
        switch report.field("errorCode", "error_code", "code") {
        case .absent, .null:
            if report.hasMembers(besides: Self.members) || user == .absent {
                return malformed("the report has no Braze error code; is it another vendor's?")
            }
            code = nil
        case let field:
            guard let number = field.integerValue else { return malformed("the error code is not a number") }
            code = BrazeCode(rawValue: number)
        }
        switch ReportedUser(user, name: "userId", vouched: report.vouched) {
        case .unusable(let rejection): return .rejected(rejection)
        case .anonymous:
            return .failure(
                AuthenticationFailure(subject: nil, reason: name(of: code), remedy: .notForUs("anonymous user")))
        case .identified(let id): return failure(of: id, code)
        }
    }

    private var user: ReportField { report.field("userId", "user_id") }

    /// The token that failed: a secret, so it is hashed on the spot. Cordova's Android bridge can write a missing one
    /// as the text "null".
    private var failedToken: String? {
        report.field("signature", "original_signature").text.flatMap { $0 == "null" ? nil : $0 }
    }

    private func failure(of user: String, _ code: BrazeCode?) -> Reading {
        let token = failedToken
        return .failure(
            AuthenticationFailure(
                subject: Subject(user: user), reason: name(of: code), remedy: remedy(for: code, user, token),
                signerRemedies: code == .noMatchingPublicKeys ? Self.unmatchedKey : nil,
                failedToken: token.map(FailedToken.init),
                hadNoToken: code == .missingToken))
    }

    private func remedy(for code: BrazeCode?, _ user: String, _ token: String?) -> Remedy {
        guard let code else { return .notFixable("an error code that Braze has not documented") }
        // Code 21 says that `sub` is not the user. Where it already is, a new token would say the same again.
        if code == .subjectMismatch, let token,
            user.hasSameBytes(as: TokenInspection(Array(token.utf8)).claims?["sub"]?.string)
        {
            return .notFixable("the refused token already names the reported user")
        }
        return code.remedy
    }

    /// Code 27, where the report shows whose signature no public key verified. The public half of an older version was deleted
    /// at Braze, and a token of the active one mends that; that of the active one was never uploaded.
    private static let unmatchedKey = SignerRemedies(
        active: .notFixable(
            "none of the app's public keys in Braze verifies the active version's tokens; upload its public half"),
        older: .mint)

    private func name(of code: BrazeCode?) -> String { code?.name ?? "UNKNOWN" }

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }

    /// Every member some SDK or bridge sends.
    private static let members: Set<String> = [
        "errorCode", "error_code", "code", "reason", "errorReason", "error_reason", "message", "userId", "user_id",
        "signature", "original_signature", "optional", "requestInitiationTime",
    ]

    /// Flutter sends its object as text, under a name or bare; a JSON object or, from older Android bridges, a printed map.
    private static func unwrapped(_ report: Report) -> Report {
        let wrapped = report.root["sdkAuthenticationError"] ?? report.root["error"]
        guard let inner = report.root.isString ? report.root : wrapped else { return report }
        guard let text = inner.string else { return report.with(root: inner) }
        return (Report.parse(text) ?? PrintedMap(text).json).map(report.with(root:)) ?? report
    }
}
