public import AdapterKit

/// A version of a key ring that a token may have been signed with.
public struct RingKey: Sendable {
    /// The version's id.
    public let version: String
    /// What a token that it signed is: of the active version, a passive, a prepared or a retired one.
    public let signer: TokenSigner
    /// The key.
    public let key: VerificationKey

    /// The `key` of `version`; `signer` says which state the version is in.
    public init(_ key: VerificationKey, version: String, signer: TokenSigner) {
        self.version = version
        self.key = key
        self.signer = signer
    }
}
