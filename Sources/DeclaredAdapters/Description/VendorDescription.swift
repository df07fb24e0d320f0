package import AdapterKit
package import YAMLReading

/// What one YAML file says of a vendor: the contract of AdapterKit as values, without a key, a clock or a line of code.
package struct VendorDescription: Sendable {
    /// The name in `apps.*.adapter`.
    package let name: String
    /// The vendor's own spelling.
    package let vendor: String
    /// What its tokens are for, in a line.
    package let about: String
    /// Where the rules were read.
    package let sources: [String]
    /// What the vendor never said and we chose.
    package let ours: [String]
    /// The facts that are missing, each a warning of `remint check`.
    package let missing: [MissingFact]
    /// What `apps.*.settings` may hold.
    package let settings: [DeclaredSetting]
    /// What the edge may vouch for besides the user.
    package let vouched: [VouchedMember]
    /// How a report is read.
    package let report: ReportRules
    /// What a reported reason calls for.
    package let codes: CodeRules
    /// What a token says.
    package let token: TokenRules
    /// How the vendor comes to hold a key.
    package let key: KeyRules
    /// How the app hands a token to the SDK.
    package let device: DeviceCall
    /// When reports of one user mean that the vendor refuses the tokens we mint.
    package let loop: LoopGuard
    /// What the vendor says of a token.
    package let verdicts: VerdictRules
}

/// A fact that a file says it lacks.
package struct MissingFact: Sendable, Equatable {
    /// What is not known, and what is done instead.
    package let text: String
    /// Where the file says so.
    package let place: FileLocation
}

/// How the vendor comes to hold a key.
package struct KeyRules: Sendable {
    /// How the vendor's dashboard writes its shared secret.
    package let encoding: SecretEncoding?
    /// What the signing key is derived with.
    package let derivation: KeyDerivation?
    /// Who makes the key, whether older tokens stay good, and the steps.
    package let handover: KeyHandover
}

/// A member of `vouched` besides the user.
package struct VouchedMember: Sendable {
    /// Which JSON it must be.
    package enum Kind: String, Sendable, CaseIterable {
        case text, integer, boolean, object, texts, list
    }

    /// How a token holds it.
    package enum Form: Sendable, Equatable {
        /// As it came.
        case itself
        /// As JSON in a string.
        case jsonText
        /// A list of texts in one text, with this between them.
        case joined(String)
    }

    /// The member's name.
    package let name: String
    /// Which JSON it must be.
    package let kind: Kind
    /// What it means.
    package let about: String
    /// The longest value, in bytes of JSON.
    package let limit: Int
}
