import COpenSSL

/// A key that verifies, bound to one algorithm: the public half of our key that a vendor has.
public struct VerificationKey: Sendable {
    let material: SigningKey.Material
    /// The only algorithm this key verifies. A token that names another one is refused.
    public let algorithm: Algorithm
    /// The id tokens name the key by, if any.
    public let keyID: String?

    init(material: SigningKey.Material, algorithm: Algorithm, keyID: String?) {
        self.material = material
        self.algorithm = algorithm
        self.keyID = keyID
    }

    /// A public key from PEM (SubjectPublicKeyInfo).
    ///
    /// - Throws: `JOSEError` with `.invalidKey` or `.weakKey`.
    public init(publicKeyPEM text: String, algorithm: Algorithm, keyID: String? = nil) throws(JOSEError) {
        guard algorithm.keyType != .secret else {
            // A public key used as an HMAC secret is the classic algorithm confusion.
            throw JOSEError(.invalidKey, "\(algorithm.rawValue) verifies with a shared secret, not with a public key")
        }
        let key = try PEM.publicKey(SecretBytes(copying: text.utf8))
        try key.require(algorithm)
        self.init(material: .asymmetric(key), algorithm: algorithm, keyID: keyID)
    }

    /// A shared secret.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`.
    public init(secret: SecretBytes, algorithm: Algorithm, keyID: String? = nil) throws(JOSEError) {
        self = try SigningKey(secret: secret, algorithm: algorithm, keyID: keyID).verificationKey
    }

    /// Returns the same key under another id.
    public func named(_ keyID: String?) -> VerificationKey {
        VerificationKey(material: material, algorithm: algorithm, keyID: keyID)
    }

    /// Returns the public key as SubjectPublicKeyInfo PEM; nil for a shared secret.
    public func publicKeyPEM() throws(JOSEError) -> String? {
        guard case .asymmetric(let key) = material else { return nil }
        return try PEM.text(publicKey: key)
    }

    /// The shared secret; nil for a public key.
    public var secret: SecretBytes? {
        guard case .secret(let secret) = material else { return nil }
        return secret
    }

    /// Returns whether both are the same key, whatever their ids. Secrets are compared in a time that depends on their
    /// lengths alone.
    public func hasSameMaterial(as other: VerificationKey) -> Bool {
        switch (material, other.material) {
        case (.asymmetric(let left), .asymmetric(let right)): left.hasSamePublicKey(as: right)
        case (.secret(let left), .secret(let right)): left.equals(right)
        default: false
        }
    }
}
