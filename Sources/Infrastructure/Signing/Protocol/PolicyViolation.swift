/// The rule of a ring's policy that a request to a signer breaks. The numbers are part of the protocol.
package enum PolicyViolation: UInt8, Error, Sendable, CaseIterable, CustomStringConvertible {
    /// The input is not two parts in base64url with a dot between them (RFC 7515, section 5.1), or its first part is no
    /// JSON object.
    case notSigningInput = 1
    /// The header's `alg` is not the one that is asked for.
    case headerAlgorithm = 2
    /// The policy has not this algorithm.
    case algorithm = 3
    /// The payload is not a JSON object, so that it is no JWT (RFC 7519, section 7.2).
    case notClaims = 4
    /// There is no `exp` that is a number.
    case noExpiry = 5
    /// `exp` is further ahead than the policy allows.
    case expiry = 6
    /// `iss` is not the one the policy wants.
    case issuer = 7
    /// No app of the signer's configuration has such tokens.
    case template = 8

    package var description: String {
        switch self {
        case .notSigningInput: "it is no JWS"
        case .headerAlgorithm: "its header names another algorithm than the key is for"
        case .algorithm: "its algorithm is none of policy.algorithms"
        case .notClaims: "its payload is no JSON object"
        case .noExpiry: "it never ends; a token needs an exp"
        case .expiry: "it lives longer than policy.longest_life allows"
        case .issuer: "its iss is not policy.issuer"
        case .template:
            "no app of the signer's configuration has such tokens; give the signer the worker's apps, and restart it"
        }
    }
}
