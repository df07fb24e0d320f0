import AdapterKit

/// What the SDKs' auth callbacks hand over (stream), or what the app itself sends (customer token, which the SDK pulls
/// and never reports on).
struct BloomreachReport {
    /// The id of an installation, not of a customer.
    static let softID = "cookie"

    private let report: Report
    private let settings: BloomreachSettings

    init(_ report: Report, settings: BloomreachSettings) {
        // React Native's native event carries the object as text.
        self.report = report.root.string.flatMap(Report.parse).map(report.with(root:)) ?? report
        self.settings = settings
    }

    var reading: Reading {
        guard report.root.isObject else { return malformed("the report is not a JSON object") }
        let code = BloomreachCode(report.field("errorCode", "error_code", "reason", "code", "status"), settings.mode)
        if code == .otherMode {
            return malformed("the report is of Bloomreach's other token; the app's mode is \(settings.mode.rawValue)")
        }
        if let vouched = report.vouched { return reading(code, of: vouched) }
        guard let ids = report.root["customerIds"] ?? report.root["customer_ids"] else {
            return code.isKnown
                ? .rejected(Rejection(.missingUser, "the report has no \"customerIds\""))
                : malformed("the report has neither a Bloomreach code nor \"customerIds\"; is it another vendor's?")
        }
        guard ids.isObject || ids.isNull else { return malformed("\"customerIds\" is not an object") }
        do throws(Rejection) {
            guard let subject = try CustomerIDs(ids, allowing: settings.ids).subject else {
                return failure(of: nil, code, .notForUs("anonymous customer: no id but the cookie"))
            }
            return failure(of: subject, code, code.remedy)
        } catch { return .rejected(error) }
    }

    private func reading(_ code: BloomreachCode, of vouched: VouchedUser) -> Reading {
        let ids = report.root["customerIds"] ?? report.root["customer_ids"]
        guard code.isKnown || ids != nil else {
            return malformed("the report has neither a Bloomreach code nor \"customerIds\"; is it another vendor's?")
        }
        do throws(Rejection) {
            let subject = try CustomerIDs.subject(ids, vouchedFor: vouched, allowing: settings.ids)
            return failure(of: subject, code, code.remedy)
        } catch { return .rejected(error) }
    }

    private func failure(of subject: Subject?, _ code: BloomreachCode, _ remedy: Remedy) -> Reading {
        .failure(AuthenticationFailure(subject: subject, reason: code.name, remedy: remedy))
    }

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }
}
