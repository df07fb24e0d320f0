public import JOSE

/// Tells whether a token is a session of the customer's.
public struct SessionVerifier: Sendable {
    /// What a session is.
    public let rules: SessionRules
    private let keys: any KeySource

    /// A token whose key is not named costs a signature check for each key that may be its; so many are tried.
    static let mostTries = 8

    /// A verifier of sessions by `rules`, signed by one of `keys`.
    public init(rules: SessionRules, keys: any KeySource) {
        self.rules = rules
        self.keys = keys
    }

    /// The session that `token` is.
    ///
    /// May wait for the issuer's keys; see `KeySource`.
    ///
    /// - Throws: `AccessRefusal`: what `token` is not, or `.keysUnavailable` with `.later` where it cannot be told yet.
    public func verify(
        _ token: [UInt8], now: UnixTime
    ) async throws(AccessRefusal) -> Session {
        guard !token.isEmpty else { throw AccessRefusal(.noSession) }
        let claimed = try ClaimedSession(token, rules: rules, now: now)
        guard let first = try await candidates(for: claimed, after: nil) else { throw AccessRefusal(.unknownKey) }
        if claimed.isSigned(byOneOf: first.keys) { return claimed.session }
        // The key that was named did not sign. Where none was, a key of a later set may have.
        guard !first.areNamed, let second = try await candidates(for: claimed, after: first.generation),
            claimed.isSigned(byOneOf: second.keys)
        else { throw AccessRefusal(.badSignature) }
        return claimed.session
    }

    /// - Returns: nil where the issuer has no such key.
    private func candidates(
        for claimed: ClaimedSession, after generation: Int?
    ) async throws(AccessRefusal) -> KeyCandidates? {
        switch await keys.keys(for: claimed.token.keyID, after: generation) {
        case .unknown: return nil
        case .later(let wait): throw AccessRefusal(.keysUnavailable, retryAfter: wait)
        case .keys(let candidates):
            let tries = candidates.keys.count { $0.algorithm == claimed.algorithm }
            guard candidates.areNamed || tries <= Self.mostTries else { throw AccessRefusal(.unknownKey) }
            return candidates
        }
    }
}
