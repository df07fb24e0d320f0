import AdapterKit

/// A challenge (or what became of the answer to one), with the user id that no SDK names and the app must add.
struct DotdigitalReport {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var reading: Reading {
        guard report.root.isObject else { return malformed("the report is not a JSON object") }
        guard let reason = DotdigitalReason(report) else {
            return malformed(
                "the report is neither a challenge nor a failure Dotdigital's SDKs know; is it another vendor's?")
        }
        let nonce: String?
        switch report.field("nonce") {
        case .text(let text): nonce = text
        case .absent, .null: nonce = nil
        case .integer, .other: return malformed("\"nonce\" must be a string, exactly as the challenge gave it")
        }
        if let provider = report.field("provider").text, provider != "jsonWebToken" {
            return failure(of: nil, reason, .notForUs("the challenge is for another authentication provider"))
        }
        return reading(reason, nonce)
    }

    private func reading(_ reason: DotdigitalReason, _ nonce: String?) -> Reading {
        switch (reason, nonce) {
        case (.noToken, _): return failure(of: nil, reason, .notForUs("a new challenge follows"))
        case (.sessionExpired, nil):
            return failure(of: nil, reason, .notForUs("the SDK starts again and will be challenged"))
        case (.unexpectedStatus, nil):
            return failure(of: nil, reason, .notForUs("a status nobody names; the SDK starts again"))
        case (.refused, nil):
            return failure(of: nil, reason, .notFixable("without a new challenge there is nothing to answer"))
        case (.challenge, nil):
            return .rejected(
                Rejection(.missingChallenge, "the report has no \"nonce\"; send the challenge's, unchanged"))
        case (_, .some): break
        }
        switch report.user("userId", "sub") {
        case .unusable(let rejection): return .rejected(rejection)
        case .anonymous: return failure(of: nil, reason, .notForUs("no user id"))
        case .identified(let id):
            return failure(of: Subject(user: id, challenge: nonce), reason, reason == .refused ? .mintOnce : .mint)
        }
    }

    private func failure(of subject: Subject?, _ reason: DotdigitalReason, _ remedy: Remedy) -> Reading {
        .failure(
            AuthenticationFailure(
                subject: subject, reason: reason.rawValue, evidence: reason.evidence, remedy: remedy,
                deadline: subject == nil ? nil : deadline))
    }

    /// The earlier of the challenge's own end and the 300 s Android waits, less what delivery takes. An end that cannot be
    /// read (iOS prints an empty one) is none.
    private var deadline: UnixTime {
        let waiting = report.observedAt.advanced(bySeconds: Self.deviceWaits)
        let stated = report.field("expiresOn").text.flatMap(RFC3339.parse)
        return min(stated ?? waiting, waiting).advanced(bySeconds: -Self.margin)
    }

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }

    private static let deviceWaits: Int64 = 300
    private static let margin: Int64 = 5
}

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
