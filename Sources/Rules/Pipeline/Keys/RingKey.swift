public import AdapterKit

/// A version of a key ring that may have signed a token.
public struct RingKey: Sendable {
    /// The version's id.
    public let version: String
    /// The state of the version, as a token's signer: active, passive, prepared or retired.
    package let signer: TokenSigner
    /// The key.
    public let key: VerificationKey

    /// Creates the `key` of `version` in the state `signer`.
    package init(_ key: VerificationKey, version: String, signer: TokenSigner) {
        self.version = version
        self.key = key
        self.signer = signer
    }
}
