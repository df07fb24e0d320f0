/// A row of a vendor's table of codes: the forms of a code in a report, and the response to it.
///
/// A code whose response depends on more than the code has a row for each response, with a condition.
public struct VendorCode: Sendable, Equatable {
    /// The vendor's own name of the code: the `reason` of a reading.
    package let reason: String
    /// The forms of the code in a report, as Markdown: numbers and names in backticks, or words such as "every report".
    package let matches: String
    /// The condition under which the row applies; empty where the code alone decides.
    package let condition: String
    /// The fact about the failed token that the code proves.
    package let evidence: Evidence
    /// The response to the code.
    package let remedy: Remedy

    /// A row for `reason`, which a report has as `matches`.
    public init(
        _ reason: String, matches: String, when condition: String = "", evidence: Evidence, remedy: Remedy
    ) {
        self.reason = reason
        self.matches = matches
        self.condition = condition
        self.evidence = evidence
        self.remedy = remedy
    }

    /// Returns `forms` in backticks, as a list.
    public static func matches(_ forms: String...) -> String { forms.map { "`\($0)`" }.joined(separator: ", ") }

    /// The row as Markdown: code, forms, remedy, evidence, meaning.
    package var row: String {
        let means = [condition, remedy.why].filter { !$0.isEmpty }.joined(separator: ": ")
        return "| `\(reason)` | \(matches) | \(remedy.name) | \(evidence.rawValue) | \(means) |"
    }
}

extension Remedy {
    /// The reason that nothing is minted; empty where a token is minted.
    package var why: String {
        switch self {
        case .mint, .mintOnce: ""
        case .notFixable(let why), .notForUs(let why): why
        }
    }
}
