package import AdapterKit

/// The remedies for reported reasons.
package struct CodeRules: Sendable {
    /// The codes in the order of the file: of several that match the first counts.
    package let codes: [DeclaredCode]
    /// A code that is none of these; nil where such a report is refused.
    package let unknown: DeclaredCode?
    /// The code of a report without one; nil where such a report is refused.
    package let missing: DeclaredCode?
    /// Whether names are compared without regard to case.
    package let ignoresCase: Bool
}

/// A code of a vendor.
package struct DeclaredCode: Sendable {
    /// The vendor's own name of it.
    package let name: String
    /// The code's meaning, for the page.
    package let about: String
    /// The ways in which a report can hold the code.
    package let matches: [CodeMatch]
    /// The fact about the failed token that it proves.
    package let evidence: Evidence
    /// The remedy that the code calls for.
    package let remedy: Remedy
    /// The remedies that depend on which of our keys signed the token.
    package let signerRemedies: SignerRemedies?
    /// The remedy where the failed token names the reported user already.
    package let ownTokenRemedy: Remedy?
    /// Whether the code means that the device had no token.
    package let hadNoToken: Bool
    /// Whether it asks ahead of the end: nothing was refused.
    package let isAhead: Bool
}

/// A way in which a report can hold a code.
package struct CodeMatch: Sendable {
    /// The value that a report must hold as its code.
    package enum Value: Sendable, Equatable {
        case numbers(ClosedRange<Int64>)
        case text(String)
        /// The message alone decides.
        case any
        /// Every report.
        case always
    }

    package let value: Value
    /// The text that the message must contain, in lower case; empty for any message.
    package let message: String
    /// The other conditions that the report must meet.
    package let conditions: [ReportCondition]
}
