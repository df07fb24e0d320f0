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
        /// No key of the vendor's verifies the signature.
        case signature
        /// The claims lack one of `members`.
        case claimsLack = "claims_lack"
        /// `exp` is no number.
        case expiryType = "expiry_type"
        /// A claim is another than we mint, users and ends aside.
        case claims
        /// The token has ended, or does not say when.
        case expired
        /// It names another user.
        case user
    }

    /// A check and what the vendor says where it fails.
    package struct Rule: Sendable {
        package let check: Check
        package let members: [String]
        package let answer: VendorVerdict
    }

    package let rules: [Rule]
    /// Of every fault that no rule speaks of.
    package let otherwise: VendorVerdict
    /// Claims that nobody looks at.
    package let unchecked: Set<String>
    /// Claims that may be absent.
    package let optional: Set<String>
}
