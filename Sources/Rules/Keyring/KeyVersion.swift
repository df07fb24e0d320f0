public import JOSE

/// A version of a signing key.
public struct KeyVersion: Sendable {
    /// The permitted use of a version.
    public enum State: String, Sendable, CaseIterable {
        /// The version's public part may be published; it does not sign.
        case prepared
        /// The version signs. Exactly one version of a ring is active.
        case active
        /// The version does not sign; it verifies its earlier tokens.
        case passive
        /// The version is of no further use.
        case retired
        /// The version's key leaked: none of its signatures count.
        case revoked

        /// Whether tokens of such a version are still good.
        public var verifies: Bool { self == .active || self == .passive || self == .prepared }
    }

    /// The version's id, unique in its ring; `key_id` of the tokens it signs.
    public let id: String
    /// The version's state.
    public let state: State
    /// The only algorithm it is for.
    public let algorithm: Algorithm
    /// The encoding of the file of a shared secret; nil for a key pair.
    public let secretEncoding: SecretEncoding?
    /// The moment no token of it may outlive; nil for none.
    public let retireAfter: UnixTime?
    /// The key; nil for a version that is retired or revoked.
    public let signingKey: SigningKey?
    /// The key that still recognizes a retired version's tokens, if its file still exists; nil for every other version.
    public let retiredKey: VerificationKey?

    /// The key the vendor holds of it, where its tokens count.
    public var verificationKey: VerificationKey? { state.verifies ? signingKey?.verificationKey : nil }
}
