import AdapterKit

/// An error of the SDK: `{"code": "token_expired", "memberId": "m-1"}`.
struct ExampleChatReport {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var reading: Reading {
        guard report.root.isObject, let text = report.field("code").text else {
            return .rejected(Rejection(.malformedReport, "the report has no \"code\"; is it another vendor's?"))
        }
        guard let code = ExampleChatCode(rawValue: text) else {
            return failure(of: nil, ExampleChatCode.other.reason, .none, ExampleChatCode.other.remedy)
        }
        switch report.user("memberId", "member_id") {
        case .identified(let id): return failure(of: Subject(user: id), code.rawValue, code.evidence, code.remedy)
        case .anonymous: return failure(of: nil, code.rawValue, code.evidence, .notForUs("nobody is signed in"))
        case .unusable(let rejection): return .rejected(rejection)
        }
    }

    private func failure(of subject: Subject?, _ reason: String, _ evidence: Evidence, _ remedy: Remedy) -> Reading {
        .failure(
            AuthenticationFailure(
                subject: subject, reason: reason, evidence: evidence, remedy: remedy,
                hadNoToken: reason == ExampleChatCode.tokenMissing.rawValue))
    }
}
