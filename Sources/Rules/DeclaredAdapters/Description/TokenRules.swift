package import AdapterKit
package import YAMLReading

/// The contents of a token.
package struct TokenRules: Sendable {
    /// The algorithm that signs.
    package enum Signing: Sendable, Equatable {
        case fixed(Algorithm)
        case setting(String)
    }

    package let signing: Signing
    /// The members after `alg`.
    package let header: [HeaderRule]
    package let claims: [ClaimRule]
    /// Whether a claim contains the user; false where a site or an app is the subject.
    package let namesUser: Bool
    package let lifetime: LifetimeBounds
    /// The age by `iat` above which the vendor refuses a token, in seconds; nil where tokens have `exp`.
    package let ageLimit: Int64?
}

/// A member of the protected header.
package struct HeaderRule: Sendable {
    package let name: String
    package let value: ValueRule
}

package indirect enum ClaimRule: Sendable {
    case claim(name: [TextRule], value: ValueRule, place: FileLocation)
    case oneOf(setting: String, [String: [ClaimRule]])
}

package indirect enum ValueRule: Sendable {
    case constant([UInt8])
    case placeholder(Placeholder)
    /// A string that is put together.
    case text([TextRule])
    case object([ClaimRule])
    case array([ValueRule])
    /// An element of an array, left out where the edge does not vouch for the member in it.
    case ifVouched(String, ValueRule)
    case moment(Moment)
    case jsonText(ValueRule)
    /// Texts in one text, with this between them.
    case joined([ValueRule], separator: String)
    case oneOf(setting: String, [String: ValueRule])
    /// The edge's value, and this constant where the edge vouches for none; as JSON in a string where the file asks for
    /// that.
    case granted(String, otherwise: ValueRule, isJSONText: Bool)
    /// The value, left out where there is none.
    case omitted(ValueRule)
    /// No value: the claim is left out for this word of a setting.
    case absent
}

/// A part of a string.
package enum TextRule: Sendable, Equatable {
    case constant(String)
    case placeholder(Placeholder)
}

/// Something that a token is filled in with. Nothing of a report is among them but its user.
package enum Placeholder: Sendable, Equatable {
    case user
    /// The nonce the token answers.
    case challenge
    case keyID
    case moment(Moment)
    case uuid
    case date
    case setting(String)
    case vouched(String)
}

/// A vendor's checks of a token in the vendor's order, and its verdict for each fault.
package struct VerdictRules: Sendable {
    /// Something that can be wrong with a token.
    package enum Check: String, Sendable, CaseIterable {
        case empty
        /// There is nothing but white space.
        case blank
        /// The dots make other than three parts.
        case parts
        /// The header is no JSON object.
        case header
        case headerLacks = "header_lacks"
        /// `alg` is not the app's.
        case algorithm
        /// The payload is no JSON object.
        case payload
        /// None of the vendor's keys verifies the signature.
        case signature
        case claimsLack = "claims_lack"
        /// `exp` is no number.
        case expiryType = "expiry_type"
        /// A claim is another than we mint, users and ends aside.
        case claims
        case expired
        /// The token names another user.
        case user
    }

    /// A check and the vendor's answer where it fails.
    package struct Rule: Sendable {
        package let check: Check
        package let members: [String]
        package let answer: VendorVerdict
    }

    package let rules: [Rule]
    /// The answer to every fault without a rule.
    package let otherwise: VendorVerdict
    /// Claims that nobody looks at.
    package let unchecked: Set<String>
    package let optional: Set<String>
}
