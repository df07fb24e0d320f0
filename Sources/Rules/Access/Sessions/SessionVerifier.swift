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
