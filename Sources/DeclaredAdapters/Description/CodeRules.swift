package import AdapterKit

/// What a reported reason calls for.
package struct CodeRules: Sendable {
    /// The codes in the order of the file: of several that match the first counts.
    package let codes: [DeclaredCode]
    /// A code that is none of these; nil where such a report is refused.
    package let unknown: DeclaredCode?
    /// No code at all; nil where such a report is refused.
    package let missing: DeclaredCode?
    /// Whether names are compared without regard to case.
    package let ignoresCase: Bool
}

/// One of a vendor's codes.
package struct DeclaredCode: Sendable {
    /// The vendor's own name of it.
    package let name: String
    /// What it means, for the page.
    package let about: String
    /// What a report must hold for it.
    package let matches: [CodeMatch]
    /// The fact about the failed token that it proves.
    package let evidence: Evidence
    /// What it calls for.
    package let remedy: Remedy
    /// What it calls for where it matters which of our keys signed the token.
    package let signerRemedies: SignerRemedies?
    /// What it calls for where the token that failed names the reported user already.
    package let ownTokenRemedy: Remedy?
    /// Whether it says that the device had no token.
    package let hadNoToken: Bool
    /// Whether it asks ahead of the end: nothing was refused.
    package let isAhead: Bool
}

/// One way a report can hold a code.
package struct CodeMatch: Sendable {
    /// What stands where codes stand.
    package enum Value: Sendable, Equatable {
        case numbers(ClosedRange<Int64>)
        case text(String)
        /// The message alone decides.
        case any
        /// Every report.
        case always
    }

    package let value: Value
    /// What the message must contain, in lower case; empty for anything.
    package let message: String
    /// What else must be so.
    package let conditions: [ReportCondition]
}
