import AdapterKit
import WorkerConfiguration

/// The rule of a ring's policy that a request to a signer breaks. The numbers are part of the protocol.
enum PolicyViolation: UInt8, Error, Sendable, CaseIterable, CustomStringConvertible {
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

    var description: String {
        switch self {
        case .notSigningInput: "it is no JWS"
        case .headerAlgorithm: "its header names another algorithm than the key is for"
        case .algorithm: "its algorithm is none of policy.algorithms"
        case .notClaims: "its payload is no JSON object"
        case .noExpiry: "it never ends; a token needs an exp"
        case .expiry: "it lives longer than policy.longest_life allows"
        case .issuer: "its iss is not policy.issuer"
        }
    }
}

extension Configuration.SigningPolicy {
    /// Returns the rule that signing `input` would break; nil where it would break none. A key that signs tokens signs
    /// no input that could be mistaken for another kind of token.
    ///
    /// - Parameters:
    ///   - input: the JWS signing input.
    ///   - algorithm: the key's algorithm.
    func violation(of input: [UInt8], signedWith algorithm: Algorithm, at now: UnixTime) -> PolicyViolation? {
        guard let dot = input.firstIndex(of: UInt8(ascii: ".")), let header = Self.part(input[..<dot]),
            let payload = try? Base64.url.decode(input[(dot + 1)...]), !payload.isEmpty
        else { return .notSigningInput }
        guard header["alg"]?.string == algorithm.rawValue else { return .headerAlgorithm }
        if let algorithms, !algorithms.contains(algorithm) { return .algorithm }
        guard let claims = Self.object(payload) else { return .notClaims }
        guard let expiry = claims["exp"]?.number else { return .noExpiry }
        let end = Double(now.microseconds) / 1_000_000 + Double(longestLife.components.seconds)
        guard expiry <= end else { return .expiry }
        if let issuer, claims["iss"]?.string != issuer { return .issuer }
        return nil
    }

    private static func part(_ text: ArraySlice<UInt8>) -> JSONValue? {
        (try? Base64.url.decode(text)).flatMap(object)
    }

    private static func object(_ text: [UInt8]) -> JSONValue? {
        let limits = JSONDocument.Limits(bytes: SignerProtocol.maximumFrameBytes)
        guard let root = try? JSONDocument(parsing: text, limits: limits).root, root.isObject else { return nil }
        return root
    }
}
