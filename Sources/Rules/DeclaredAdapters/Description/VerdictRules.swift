package import AdapterKit

/// A vendor's checks of a token in the vendor's order, and its verdict for each fault.
package struct VerdictRules: Sendable {
    /// Something that can be wrong with a token.
    package enum Check: String, Sendable, CaseIterable {
        /// There is no byte.
        case empty
        /// There is nothing but white space.
        case blank
        /// The dots make other than three parts.
        case parts
        /// The header is no JSON object.
        case header
        /// The header lacks one of `members`.
        case headerLacks = "header_lacks"
        /// `alg` is not the app's.
        case algorithm
        /// The payload is no JSON object.
        case payload
        /// None of the vendor's keys verifies the signature.
        case signature
        /// The claims lack one of `members`.
        case claimsLack = "claims_lack"
        /// `exp` is no number.
        case expiryType = "expiry_type"
        /// A claim is another than we mint, users and ends aside.
        case claims
        /// The token has expired, or has no expiry.
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
    /// Claims that may be absent.
    package let optional: Set<String>
}
