public import JOSE

/// Keys one of which may have signed a token.
public struct KeyCandidates: Sendable {
    /// The keys, each with its algorithm.
    public let keys: [VerificationKey]
    /// Whether the token's `kid` is theirs, so that the signature is one of these keys' or none. Where it is not, they
    /// are only worth a try.
    public let areNamed: Bool
    /// The set they are of. A set that comes later has a higher number.
    public let generation: Int
}

/// The answer about a key.
public enum KeyAnswer: Sendable {
    /// One of these keys may have signed the token.
    case keys(KeyCandidates)
    /// The issuer has no such key: its set was asked for after the token was shown, and does not hold one.
    case unknown
    /// The keys are not known yet; ask again after this time.
    case later(Duration)
}

/// A source of an issuer's keys.
public protocol KeySource: Sendable {
    /// Returns the keys for a token's `kid`.
    ///
    /// May wait for a set that is on its way, until `deadline`, and never longer than one fetch takes.
    ///
    /// - Parameters:
    ///   - keyID: The token's `kid`; nil for a token that has none.
    ///   - generation: The last set whose candidates did not sign the token; nil at first.
    ///   - age: The least time since the token was issued; nil where it is unknown.
    ///   - deadline: The latest moment of the answer; nil for the end of the fetch.
    func keys(
        for keyID: String?, after generation: Int?, age: Duration?, until deadline: ContinuousClock.Instant?
    ) async -> KeyAnswer

    /// Returns whether the latest set does not contain the key with this thumbprint (RFC 7638). A set without a usable
    /// key contains none. Before the first set, and once the last is too old to be used, no key is withdrawn.
    func isWithdrawn(_ thumbprint: String) -> Bool
}

extension KeySource {
    /// Returns the keys for a token's `kid`; nil for a token that has none.
    public func keys(for keyID: String?) async -> KeyAnswer { await keys(for: keyID, after: nil) }

    /// Returns the keys for a token's `kid`, and waits for them as long as the fetch takes.
    public func keys(for keyID: String?, after generation: Int?) async -> KeyAnswer {
        await keys(for: keyID, after: generation, age: nil, until: nil)
    }
}

/// Keys that do not change while the program runs.
public struct StaticKeys: KeySource {
    private let set: KeySet

    /// The keys of `set`.
    public init(_ set: KeySet) { self.set = set }

    /// Whether the set lacks the key of `thumbprint`.
    public func isWithdrawn(_ thumbprint: String) -> Bool { !set.holds(thumbprint) }

    /// Returns the set's keys for the key id at once.
    public func keys(
        for keyID: String?, after generation: Int?, age: Duration?, until deadline: ContinuousClock.Instant?
    ) async -> KeyAnswer {
        // There is no later set that another look could find.
        guard generation == nil, let candidates = set.candidates(for: keyID, generation: 0) else { return .unknown }
        return .keys(candidates)
    }
}
