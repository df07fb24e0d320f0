/// A private key that decrypts content encrypted to it, bound to the algorithm that its JWK states.
///
/// The worker has none of these keys: they belong to recipients, and to their tests.
@_spi(Decryption) public struct JWEDecryptionKey: Sendable {
    let key: EncryptionKey

    /// The only algorithm this key opens. A token that names another one is refused.
    public var algorithm: KeyManagementAlgorithm { key.algorithm }
    /// The id that tokens name the key by, if any.
    public var keyID: String? { key.keyID }
    /// The recipient whose messages this key opens.
    public let recipient: JWERecipient

    private init(_ key: EncryptionKey) {
        self.key = key
        recipient = JWERecipient(key)
    }

    /// A key from a private JWK, with the `alg` ECDH-ES+A256KW or RSA-OAEP-256. `use`, where it is there, must be `enc`.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, `.weakKey`, `.unsupportedAlgorithm` or `.privateKeyRequired`.
    public init(privateJWK text: SecretBytes) throws(JOSEError) {
        let jwk = try JWKMembers(text)
        guard jwk.type == "oct" || jwk.has("d") else {
            throw JOSEError(
                .privateKeyRequired, "the JWK has no \"d\": it is a public key, a private one is needed to decrypt")
        }
        self.init(try EncryptionKey(jwk, isPrivate: true))
        try requireOneKey()
    }

    /// Returns a new key, from libcrypto's random numbers.
    ///
    /// - Parameters:
    ///   - curve: used for ECDH-ES+A256KW alone.
    ///   - rsaBits: 2048 to 16384; used for RSA-OAEP-256 alone.
    /// - Throws: `JOSEError` with `.weakKey` for fewer bits, `.libcrypto` when no key could be made.
    public static func generate(
        _ algorithm: KeyManagementAlgorithm, curve: Algorithm.Curve = .p256, rsaBits: Int = 2048, keyID: String? = nil
    ) throws(JOSEError) -> JWEDecryptionKey {
        let key =
            switch algorithm {
            case .ecdhESA256KW: try EVPKey.generate(.ec(curve))
            case .rsaOAEP256: try EVPKey.generate(.rsa, rsaBits: rsaBits)
            }
        return JWEDecryptionKey(try EncryptionKey(key, algorithm, keyID: keyID))
    }

    /// Seals once and opens it: the private and the public half of an imported key may be two keys' halves.
    private func requireOneKey() throws(JOSEError) {
        let text = Array("remint".utf8)
        guard let token = try? recipient.seal(text), (try? CompactJWE(parsing: token).open(with: self)) == text else {
            throw JOSEError(.invalidKey, "the JWK's private and public members are not one key")
        }
    }
}
