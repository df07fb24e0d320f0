import AdapterKit

/// An error of the Infobip SDKs in any of its spellings, with the user that no SDK names and the app must add.
struct InfobipReport {
    private let report: Report
    private let applicationCode: String

    init(_ report: Report, applicationCode: String) {
        self.report = report
        self.applicationCode = applicationCode
    }

    var reading: Reading {
        guard report.root.isObject else { return malformed("the report is not a JSON object") }
        let code = self.code
        // An app that adds Infobip's user knows what it sends, also where the SDK's code is new.
        if code == .other, report.field("externalUserId", "external_user_id") == .absent,
            report.hasMembers(besides: Self.members) || codeField == .absent
        {
            return malformed("the report has no code of Infobip's SDKs; is it another vendor's?")
        }
        if let reported = report.field("applicationCode").text, !reported.hasSameBytes(as: applicationCode) {
            return malformed("the report is of another App Profile than settings.application_code")
        }
        switch report.user("externalUserId", "external_user_id") {
        case .unusable(let rejection): return .rejected(rejection)
        case .anonymous: return failure(of: nil, code, .notForUs("no external user id"))
        case .identified(let id): return failure(of: Subject(user: id), code, code.remedy)
        }
    }

    /// iOS: `mm_code`, or `messageId` in `userInfo`; Android, React Native, Flutter and Cordova: `code`; the server:
    /// `messageId`, nested; else the HTTP status.
    private var codeField: ReportField {
        let direct = report.field("mm_code", "messageId")
        if !direct.isNothing { return direct }
        if let nested = code(in: report.root["userInfo"]) ?? code(in: report.root["requestError"]?["serviceException"])
        {
            return nested
        }
        let code = report.field("code")
        if !code.isNothing { return code }
        let status = report.field("status", "statusCode")
        return status.isNothing ? .absent : status
    }

    private func code(in nested: JSONValue?) -> ReportField? {
        guard let nested else { return nil }
        let field = report.with(root: nested).field("messageId")
        return field.isNothing ? nil : field
    }

    private var code: InfobipCode { InfobipCode(codeField, domain: report.field("domain").text) }

    private func failure(of subject: Subject?, _ code: InfobipCode, _ remedy: Remedy) -> Reading {
        var evidence = code.evidence
        if evidence == .key {
            for name in ["message", "mm_message", "description", "text"] {
                evidence = evidence.given(text: report.field(name).text)
            }
            // The server's own words.
            for answer in [report.root["userInfo"], report.root["requestError"]?["serviceException"]] {
                evidence = evidence.given(text: answer?["text"]?.string)
            }
        }
        return .failure(
            AuthenticationFailure(subject: subject, reason: code.name, evidence: evidence, remedy: remedy))
    }

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }

    /// Every member some SDK sends or the app is asked to add.
    private static let members: Set<String> = [
        "mm_code", "mm_message", "code", "message", "messageId", "text", "description", "type", "domain", "userInfo",
        "details", "stacktrace", "requestError", "tr", "status", "statusCode", "externalUserId", "external_user_id",
        "applicationCode",
        "pushRegistrationId", "operation", "time", "device",
    ]
}
