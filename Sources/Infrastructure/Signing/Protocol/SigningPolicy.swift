public import AdapterKit

/// The limits on a signer's signatures with a ring: it signs the tokens of the ring's apps on these terms and nothing else.
public struct SigningPolicy: Sendable {
    /// The tokens of the apps that use the ring.
    package var templates: [TokenTemplate]
    /// The algorithms that may sign; nil for any that the ring's keys are for. A key signs with its own in any case.
    public var algorithms: Set<Algorithm>?
    /// The longest time from now to `exp`.
    public var longestLife: Duration
    /// The required value of `iss`; nil to accept any.
    public var issuer: String?

    /// Makes a policy. There is no default: whoever has a ring served states its limits.
    package init(
        _ templates: [TokenTemplate], algorithms: Set<Algorithm>?, longestLife: Duration, issuer: String?
    ) {
        self.templates = templates
        self.algorithms = algorithms
        self.longestLife = longestLife
        self.issuer = issuer
    }
}

extension SigningPolicy {
    /// Returns the rule that signing `input` would break; nil where it would break none. A key that signs tokens signs
    /// no input that could be mistaken for another kind of token.
    ///
    /// - Parameters:
    ///   - input: the JWS signing input.
    ///   - algorithm: the key's algorithm.
    ///   - keyID: the key's `kid`.
    package func violation(
        of input: [UInt8], signedWith algorithm: Algorithm, keyID: String?, at now: UnixTime
    ) -> PolicyViolation? {
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
        return templates.contains { $0.admits(input, claims, keyID: keyID, at: now) } ? nil : .template
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
