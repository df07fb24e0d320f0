/// The ways in which the conformance suite corrupts a good token. A vendor's verdict on each has its name.
package enum CorruptionKind: String, Sendable, CaseIterable {
    case empty
    case blank
    case twoParts = "two_parts"
    case fourParts = "four_parts"
    case trailingGarbage = "trailing_garbage"
    case headerNotJSON = "header_not_json"
    case headerNotObject = "header_not_object"
    case payloadNotObject = "payload_not_object"
    case noType = "no_type"
    case algorithmNone = "algorithm_none"
    case otherAlgorithm = "other_algorithm"
    case unknownKey = "unknown_key"
    case flippedSignature = "flipped_signature"
    case expired
    case expiryAsText = "expiry_as_text"
    case noKeyID = "no_key_id"
    case otherKeyID = "other_key_id"
    /// The corruptions of a claim, each with the claim's name in its own.
    case noClaim = "no_CLAIM"
    case wrongClaim = "wrong_CLAIM"

    /// The change that the corruption makes. Unless it is about the signature, the key signs the changed token.
    package var change: String {
        switch self {
        case .empty: "no byte"
        case .blank: "three spaces"
        case .twoParts: "without the signature and its dot"
        case .fourParts: "a fourth part, `.e30`, at its end"
        case .trailingGarbage: "`!` at its end"
        case .headerNotJSON: "a header that is not JSON"
        case .headerNotObject: "the header `[]`"
        case .payloadNotObject: "the payload `[]`"
        case .noType: "a header without `typ`; the same token where the header has none"
        case .algorithmNone: "`alg: none`, without a signature"
        case .otherAlgorithm: "another algorithm, signed with another key"
        case .unknownKey: "signed with another key, under the id of the vendor's"
        case .flippedSignature: "another first character of the signature"
        case .expired: "expired; its `exp` is now, or its `iat` is older than `age_limit`"
        case .expiryAsText: "`exp` is a string, for tokens with `exp`"
        case .noKeyID: "a header without `kid`, for tokens with `kid`"
        case .otherKeyID: "`kid` is `other`, for tokens with `kid`"
        case .noClaim: "without the claim, such as `no_sub`"
        case .wrongClaim: "the claim is `[]`, such as `wrong_sub`; not for `exp`"
        }
    }

    /// Returns the corruption's name for `claim`.
    package func name(claim: String) -> String {
        switch self {
        case .noClaim: "no_\(claim)"
        case .wrongClaim: "wrong_\(claim)"
        default: rawValue
        }
    }
}
