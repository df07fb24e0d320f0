package import AdapterKit
package import YAMLReading

/// A YAML file's description of a vendor: the contract of AdapterKit as values, without a key, a clock or a line of
/// code.
package struct VendorDescription: Sendable {
    package let name: String
    package let vendor: String
    /// The purpose of the vendor's tokens, in a line.
    package let about: String
    /// The pages where the rules were read.
    package let sources: [String]
    /// The rules that the vendor never stated and we chose.
    package let ours: [String]
    /// The facts that are missing, each a warning of `remint check`.
    package let missing: [MissingFact]
    /// The SDKs that were read for the rules; nil where the file names none.
    package let platforms: ReadPlatforms?
    /// The keys that `apps.*.settings` may hold.
    package let settings: [DeclaredSetting]
    /// The members besides the user for which the edge may vouch.
    package let vouched: [VouchedMember]
    package let report: ReportRules
    /// The remedies for reported reasons.
    package let codes: CodeRules
    package let token: TokenRules
    package let key: KeyRules
    /// The call by which the app hands a token to the SDK.
    package let device: DeviceCall
    /// The rule by which one user's reports show that the vendor refuses the tokens we mint.
    package let loop: LoopGuard
    package let verdicts: VerdictRules
}

/// A fact that a file declares as missing.
package struct MissingFact: Sendable, Equatable {
    /// The missing fact, and the rule that is used instead.
    package let text: String
    package let place: FileLocation
}

/// The SDKs of a vendor, by whether somebody read them for the file's rules.
package struct ReadPlatforms: Sendable, Equatable {
    package let read: [String]
    /// The SDKs that were not read: their reports may differ.
    package let notRead: [MissingFact]
}

/// The way in which the vendor gets a key.
package struct KeyRules: Sendable {
    /// The encoding in which the vendor's dashboard shows its shared secret.
    package let encoding: SecretEncoding?
    package let derivation: KeyDerivation?
    /// The party that makes the key, the fate of older tokens, and the steps.
    package let handover: KeyHandover
}

/// A member of `vouched` besides the user.
package struct VouchedMember: Sendable {
    /// The JSON type that the member must have.
    package enum Kind: String, Sendable, CaseIterable {
        case text, integer, boolean, object, texts, list
    }

    /// The form in which a token holds the member.
    package enum Form: Sendable, Equatable {
        case itself
        case jsonText
        /// A list of texts in one text, with this between them.
        case joined(String)
    }

    package let name: String
    /// The JSON type that the member must have.
    package let kind: Kind
    /// The strings that the member may be, or its elements where it is a list of strings.
    package let strings: AllowedStrings
    package let about: String
    /// The longest value, in bytes of JSON.
    package let limit: Int
    /// Whether a token without the member is of no use, so that an event without it has no token.
    package let isRequired: Bool
}

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
    package let name: String
    package let about: String
    /// The ways in which a report can hold the code.
    package let matches: [CodeMatch]
    /// The fact about the failed token that it proves.
    package let evidence: Evidence
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
        case always
    }

    package let value: Value
    /// The text that the message must contain, in lower case; empty for any message.
    package let message: String
    package let conditions: [ReportCondition]
}

/// The rule for `name` of a vendor's file.
enum VendorName {
    private static let longest = 40

    /// Returns whether `name` consists of small letters, digits and hyphens, and begins with no hyphen.
    static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= longest, first != UInt8(ascii: "-") else { return false }
        return name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
    }
}
