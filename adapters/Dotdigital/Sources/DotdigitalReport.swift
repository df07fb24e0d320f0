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
        let remedy = nonce == nil || reason == .noToken ? reason.remedyWithoutChallenge : reason.remedy
        guard let remedy else {
            return .rejected(
                Rejection(.missingChallenge, "the report has no \"nonce\"; send the challenge's, unchanged"))
        }
        guard remedy.mints else { return failure(of: nil, reason, remedy) }
        switch report.user("userId", "sub") {
        case .unusable(let rejection): return .rejected(rejection)
        case .anonymous: return failure(of: nil, reason, .notForUs("no user id"))
        case .identified(let id):
            return failure(of: Subject(user: id, challenge: nonce), reason, remedy)
        }
    }

    private func failure(of subject: Subject?, _ reason: DotdigitalReason, _ remedy: Remedy) -> Reading {
        .failure(
            AuthenticationFailure(
                subject: subject, reason: reason.rawValue,
                evidence: reason.evidence.given(text: report.field("message").text)
                    .given(text: report.field("reason").text),
                remedy: remedy,
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
