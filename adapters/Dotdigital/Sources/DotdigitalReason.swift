import AdapterKit

/// The reason that the app asks for a token. The names are ours: the SDKs have none.
enum DotdigitalReason: String {
    case challenge = "CHALLENGE"
    case refused = "INVALID_JWT_403"
    case sessionExpired = "SESSION_EXPIRED"
    case noToken = "NO_TOKEN"
    /// iOS met a status it did not expect and does not report which.
    case unexpectedStatus = "UNEXPECTED_STATUS"

    /// The fact about our token that the reason proves. A session is the vendor's own, and its end proves nothing about
    /// our token.
    var evidence: Evidence {
        switch self {
        case .refused: .key
        case .challenge, .sessionExpired, .noToken, .unexpectedStatus: .none
        }
    }

    /// The remedy for a report that has a new challenge to answer.
    var remedy: Remedy { self == .refused ? .mintOnce : .mint }

    /// The remedy for a report without a challenge; nil for a challenge itself, which needs its nonce.
    var remedyWithoutChallenge: Remedy? {
        switch self {
        case .noToken: .notForUs("a new challenge follows")
        case .sessionExpired: .notForUs("the SDK starts again and will be challenged")
        case .unexpectedStatus: .notForUs("a status nobody names; the SDK starts again")
        case .refused: .notFixable("without a new challenge there is nothing to answer")
        case .challenge: nil
        }
    }

    /// The rows of the table of codes.
    static let rows: [VendorCode] = [
        DotdigitalReason.challenge.row(
            VendorCode.matches("CHALLENGE", "5554") + ", no reason", when: "with a nonce", remedy: .mint),
        DotdigitalReason.refused.row(
            VendorCode.matches("INVALID_JWT_403", "403"), when: "with a new nonce", remedy: .mintOnce),
        DotdigitalReason.refused.row(VendorCode.matches("INVALID_JWT_403", "403"), when: "without a nonce"),
        DotdigitalReason.sessionExpired.row(
            VendorCode.matches("SESSION_EXPIRED", "401"), when: "with a nonce", remedy: .mint),
        DotdigitalReason.sessionExpired.row(VendorCode.matches("SESSION_EXPIRED"), when: "without a nonce"),
        DotdigitalReason.unexpectedStatus.row(
            VendorCode.matches("UNEXPECTED_STATUS", "5554"), when: "without a nonce"),
        DotdigitalReason.noToken.row(VendorCode.matches("NO_TOKEN", "401", "5561"), when: "without a nonce"),
    ]

    private func row(_ matches: String, when condition: String, remedy: Remedy? = nil) -> VendorCode {
        VendorCode(
            rawValue, matches: matches, when: condition, evidence: evidence,
            remedy: remedy ?? remedyWithoutChallenge ?? self.remedy)
    }

    /// The reason a report states or implies; nil for one that is not Dotdigital's.
    init?(_ report: Report) {
        let nonce = report.field("nonce")
        switch report.field("reason") {
        case .text(let text):
            // Beside a status or an SDK's error number the reason may be the vendor's own text.
            guard
                let reason = Self.named(text, hasNonce: nonce.text != nil)
                    ?? Self.answered(report, hasNonce: nonce.text != nil)
            else { return nil }
            self = reason
        case .integer, .other: return nil
        case .absent, .null:
            guard let implied = Self.implied(report, hasNonce: nonce != .absent && nonce != .null) else { return nil }
            self = implied
        }
    }

    private static func named(_ text: String, hasNonce: Bool) -> DotdigitalReason? {
        guard text.utf8.count <= 64 else { return nil }
        let reason = DotdigitalReason(rawValue: text.uppercased())
        return reason == .unexpectedStatus && hasNonce ? .challenge : reason
    }

    private static func implied(_ report: Report, hasNonce: Bool) -> DotdigitalReason? {
        if let answered = answered(report, hasNonce: hasNonce) { return answered }
        if hasNonce { return .challenge }
        return report.hasMembers(besides: challengeMembers) ? nil : .challenge
    }

    /// Returns the reason that a status or an iOS error number means; nil for any other number.
    private static func answered(_ report: Report, hasNonce: Bool) -> DotdigitalReason? {
        switch (report.field("status", "statusCode").integerValue, report.field("code").integerValue) {
        case (403, _): return .refused
        case (401, _): return hasNonce ? .sessionExpired : .noToken
        // CMPAuthenticationErrorMissingToken
        case (_, 5561): return .noToken
        // CMPRequestTemplateErrorUnexpectedStatusCode: any status the SDK did not expect, also of a call before the
        // challenge. It proves nothing about a token, so with a nonce it is a challenge like any other.
        case (_, 5554): return hasNonce ? .challenge : .unexpectedStatus
        default: return nil
        }
    }

    /// A challenge's members and those the app is asked to add.
    private static let challengeMembers: Set<String> = [
        "authenticationId", "authenticationID", "provider", "expiresOn", "nonce", "userId", "sub", "apiSpaceId",
        "device",
        "deviceId", "time", "reason",
    ]
}
