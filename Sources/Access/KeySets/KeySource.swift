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

/// What is known of a key.
public enum KeyAnswer: Sendable {
    /// These may have signed the token.
    case keys(KeyCandidates)
    /// The issuer has no such key: its set was asked for after the token was shown, and does not hold one.
    case unknown
    /// It cannot be told yet; ask again after this.
    case later(Duration)
}

/// Where an issuer's keys come from.
public protocol KeySource: Sendable {
    /// The keys for a token's `kid`.
    ///
    /// May wait for a set that is on its way, and never longer than one fetch takes.
    ///
    /// - Parameters:
    ///   - keyID: the token's `kid`; nil for a token that has none.
    ///   - generation: candidates of this set and of earlier ones did not sign the token; nil at first.
    func keys(for keyID: String?, after generation: Int?) async -> KeyAnswer

    /// Whether the latest set there is does not hold the key with this thumbprint (RFC 7638). Where there is no set, no key is
    /// withdrawn.
    func isWithdrawn(_ thumbprint: String) -> Bool
}

extension KeySource {
    /// The keys for a token's `kid`; nil for a token that has none.
    public func keys(for keyID: String?) async -> KeyAnswer { await keys(for: keyID, after: nil) }
}
