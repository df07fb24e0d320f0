import AdapterKit

/// The report that the SDKs' auth callbacks hand over (stream), or that the app itself sends (customer token, which the
/// SDK pulls and never reports on).
struct BloomreachReport {
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
        let spellings = [report.root["customerIds"], report.root["customer_ids"]].compactMap(\.self)
        if let vouched = report.vouched { return reading(code, spellings, of: vouched) }
        guard !spellings.isEmpty else {
            return code.isKnown
                ? .rejected(Rejection(.missingUser, "the report has no \"customerIds\""))
                : malformed("the report has neither a Bloomreach code nor \"customerIds\"; is it another vendor's?")
        }
        guard spellings.allSatisfy({ $0.isObject || $0.isNull }) else {
            return malformed("\"customerIds\" is not an object")
        }
        do throws(Rejection) {
            guard let subject = try customer(spellings) else {
                let others = spellings.contains {
                    $0.members.contains { $0.name != CustomerIDs.softID && !$0.value.isNull }
                }
                return failure(of: nil, code, .notForUs(others ? Self.unlistedIDs : "anonymous customer: no id"))
            }
            return failure(of: subject, code, code.remedy)
        } catch { return .rejected(error) }
    }

    private func reading(_ code: BloomreachCode, _ spellings: [JSONValue], of vouched: VouchedUser) -> Reading {
        guard code.isKnown || !spellings.isEmpty else {
            return malformed("the report has neither a Bloomreach code nor \"customerIds\"; is it another vendor's?")
        }
        do throws(Rejection) {
            if spellings.count > 1 { _ = try customer(spellings) }
            let subject = try settings.customer(spellings.first, vouchedFor: vouched)
            return failure(of: subject, code, code.remedy)
        } catch { return .rejected(error) }
    }

    /// The customer that all spellings of the ids name alike; nil for an anonymous one.
    private func customer(_ spellings: [JSONValue]) throws(Rejection) -> Subject? {
        var customers: [Subject?] = []
        for ids in spellings { customers.append(try settings.customer(ids)) }
        guard let first = customers.first, customers.allSatisfy({ $0 == first }) else { throw Rejection.namesTwoUsers }
        return first
    }

    private func failure(of subject: Subject?, _ code: BloomreachCode, _ remedy: Remedy) -> Reading {
        .failure(AuthenticationFailure(subject: subject, reason: code.name, evidence: code.evidence, remedy: remedy))
    }

    private static let unlistedIDs =
        "settings.ids lists none of the names of the report's customer ids; names are compared with their case"

    private func malformed(_ detail: String) -> Reading { .rejected(Rejection(.malformedReport, detail)) }
}
