public import JOSE

/// Verifies that a token is a session of the customer.
public struct SessionVerifier: Sendable {
    /// The requirements on a session.
    public let rules: SessionRules
    private let keys: any KeySource

    /// The most keys tried for a token that does not name its key. Each costs a signature check.
    static let mostTries = 8

    /// A verifier of sessions by `rules`, signed by one of `keys`.
    public init(rules: SessionRules, keys: any KeySource) {
        self.rules = rules
        self.keys = keys
    }

    /// Returns the session in `token`.
    ///
    /// May wait for the issuer's keys; see `KeySource`.
    ///
    /// - Parameter deadline: the latest moment to wait until for keys; nil for as long as a fetch takes.
    /// - Throws: `AccessRefusal` with the reason, or `.keysUnavailable` with `.later` where the keys are not known yet.
    public func verify(
        _ token: [UInt8], now: UnixTime, until deadline: ContinuousClock.Instant? = nil
    ) async throws(AccessRefusal) -> Session {
        guard !token.isEmpty else { throw AccessRefusal(.noSession) }
        let claimed = try ClaimedSession(token, rules: rules, now: now)
        // Its own clock may have been behind.
        let age = claimed.issuedAt.map { Duration.microseconds(now.microseconds(since: $0)) - rules.boundedSkew }
        guard let first = try await candidates(for: claimed, age, after: nil, until: deadline) else {
            throw AccessRefusal(.unknownKey)
        }
        if let key = claimed.signer(among: first.keys) { return try session(claimed, key) }
        // A key of a later set may have signed, under the same id too: some issuers replace a key and keep its id.
        guard let second = try await candidates(for: claimed, age, after: first.generation, until: deadline),
            let key = claimed.signer(among: second.keys)
        else { throw AccessRefusal(.badSignature) }
        return try session(claimed, key)
    }

    /// Returns whether the issuer has withdrawn the key that signed `session`, as far as it is known.
    func isWithdrawn(_ session: Session) -> Bool {
        session.signers.contains { signer in
            guard signer.kind == rules.name, let thumbprint = signer.thumbprint else { return false }
            return keys.isWithdrawn(thumbprint)
        }
    }

    private func session(_ claimed: ClaimedSession, _ key: VerificationKey) throws(AccessRefusal) -> Session {
        guard !claimed.isUserTooLong else { throw AccessRefusal(.userTooLong) }
        return claimed.session.signed(
            by: Session.Signer(kind: rules.name, thumbprint: (try? JWK.thumbprint(of: key)) ?? nil))
    }

    /// - Returns: nil where the issuer has no such key.
    private func candidates(
        for claimed: ClaimedSession, _ age: Duration?, after generation: Int?,
        until deadline: ContinuousClock.Instant?
    ) async throws(AccessRefusal) -> KeyCandidates? {
        switch await keys.keys(for: claimed.token.keyID, after: generation, age: age, until: deadline) {
        case .unknown: return nil
        case .later(let wait): throw AccessRefusal(.keysUnavailable, retryAfter: wait)
        case .keys(let candidates):
            let tries = candidates.keys.count { $0.algorithm == claimed.algorithm }
            guard candidates.areNamed || tries <= Self.mostTries else { throw AccessRefusal(.unknownKey) }
            return candidates
        }
    }
}

/// The requirements on a JWT that is a customer's session.
public struct SessionRules: Sendable {
    /// The name of the rules, which sessions that satisfy them carry.
    public var name = "session"
    /// `iss`, byte for byte.
    public var issuer: String
    /// The required audience, as `aud` or in its list. Nil for an issuer that signs for nobody else: any token of that
    /// issuer passes.
    public var audience: String?
    /// The algorithms that may sign sessions. HMAC algorithms only work with shared secrets given by hand: a key set
    /// that is fetched holds none.
    public var algorithms: Set<Algorithm>
    /// The tolerated difference of the issuer's clock, 0 to 300 seconds.
    public var skew: Duration
    /// Further audiences that some app asks for. A session carries those that it names.
    public var audiences: [String]
    /// The claims that name a user for some app. A session names a user by one of them at least.
    public var userClaims: [String]
    /// The longest session, in bytes.
    public var mostBytes: Int

    /// Rules for sessions. By default the common asymmetric algorithms are allowed, clocks may differ by 30 seconds,
    /// `sub` is the user, and a session has at most 8 kB.
    public init(
        issuer: String, audience: String?, algorithms: Set<Algorithm> = [.rs256, .ps256, .es256, .eddsa],
        skew: Duration = .seconds(30), audiences: [String] = [], userClaims: [String] = ["sub"],
        mostBytes: Int = 8 << 10
    ) {
        self.issuer = issuer
        self.audience = audience
        self.algorithms = algorithms
        self.skew = skew
        self.audiences = audiences
        self.userClaims = userClaims
        self.mostBytes = mostBytes
    }

    /// The longest name of a user, in bytes.
    public static let longestUser = 1024

    /// The time ahead from which `exp` cannot be meant in seconds: ten years.
    static let longestLife: Int64 = 3650 * 86_400

    var boundedSkew: Duration { min(max(skew, .zero), .seconds(300)) }

    /// The types of tokens that declare to be something else than a session (RFC 8725, section 3.11; IANA's media types
    /// for JWTs).
    static let foreignTypes: Set<String> = [
        "dpop+jwt", "jwe", "jose", "jose+json", "logout+jwt", "secevent+jwt", "oauth-authz-req+jwt",
        "token-introspection+jwt", "entity-statement+jwt", "kb+jwt",
    ]
}
