import COpenSSL

/// A key that signs, bound to one algorithm and, where it has one, a key id.
public struct SigningKey: Sendable {
    enum Material: Sendable {
        case asymmetric(EVPKey)
        case secret(SecretBytes)
    }

    let material: Material
    /// The only algorithm this key signs with.
    public let algorithm: Algorithm
    /// The id the vendor knows the key by, if any.
    public let keyID: String?

    /// A private key from PEM: PKCS#8, PKCS#1 or SEC1, encrypted or not.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, `.weakKey`, `.privateKeyRequired`, `.passphraseRequired`, `.wrongPassphrase`
    ///   or `.unsupportedCipher`.
    public init(
        pem: SecretBytes, passphrase: SecretBytes? = nil, algorithm: Algorithm, keyID: String? = nil
    ) throws(JOSEError) {
        guard algorithm.keyType != .secret else {
            throw JOSEError(.invalidKey, "\(algorithm.rawValue) signs with a shared secret, not with a PEM key")
        }
        let key = try PEM.privateKey(pem, passphrase: passphrase)
        try key.require(algorithm)
        self.init(material: .asymmetric(key), algorithm: algorithm, keyID: keyID)
        try requireOneKey()
    }

    /// A private key from PEM that somebody hands over: as `init(pem:passphrase:algorithm:keyID:)`, and the text must hold one
    /// private key alone. Which of several is meant is never guessed.
    ///
    /// - Throws: as `init(pem:passphrase:algorithm:keyID:)`, or `.unsupportedCipher`.
    public init(
        importing pem: SecretBytes, passphrase: SecretBytes? = nil, algorithm: Algorithm
    ) throws(JOSEError) {
        try KeyFileForm(pem).requireOneKey()
        try self.init(pem: pem, passphrase: passphrase, algorithm: algorithm)
    }

    /// A shared secret. Its length is the vendor's choice; see `isShorterThanDigest`.
    ///
    /// - Throws: `JOSEError` with `.invalidKey` when the algorithm is not an HMAC or the secret is empty.
    public init(secret: SecretBytes, algorithm: Algorithm, keyID: String? = nil) throws(JOSEError) {
        guard algorithm.keyType == .secret else {
            throw JOSEError(
                .invalidKey, "\(algorithm.rawValue) needs a key of type \(algorithm.keyType), this is a shared secret")
        }
        guard secret.count > 0 else { throw JOSEError(.invalidKey, "the secret is empty") }
        self.init(material: .secret(secret), algorithm: algorithm, keyID: keyID)
    }

    /// Signs once and verifies: the private and the public half of an imported key may be two keys' halves.
    func requireOneKey() throws(JOSEError) {
        let input: [UInt8] = Array("remint".utf8)
        guard let signature = try? Signer(self).sign(input), verificationKey.isValid(signature, of: input) else {
            throw JOSEError(.invalidKey, "the key's private and public halves are not one key")
        }
    }

    init(material: Material, algorithm: Algorithm, keyID: String?) {
        self.material = material
        self.algorithm = algorithm
        self.keyID = keyID
    }

    /// Returns a new key for `algorithm`, from libcrypto's random numbers.
    ///
    /// - Parameter rsaBits: 2048, 3072 or 4096; used for RSA alone. A secret is as long as the algorithm's digest.
    /// - Throws: `JOSEError` with `.weakKey` for fewer bits, `.libcrypto` when no key could be made.
    public static func generate(
        _ algorithm: Algorithm, rsaBits: Int = 2048, keyID: String? = nil
    ) throws(JOSEError) -> SigningKey {
        if algorithm.keyType == .secret {
            let secret = try SecretBytes.random(count: algorithm.digestBytes)
            return try SigningKey(secret: secret, algorithm: algorithm, keyID: keyID)
        }
        let key = try EVPKey.generate(algorithm.keyType, rsaBits: rsaBits)
        return SigningKey(material: .asymmetric(key), algorithm: algorithm, keyID: keyID)
    }

    /// Returns the key under another id.
    package func named(_ keyID: String?) -> SigningKey {
        SigningKey(material: material, algorithm: algorithm, keyID: keyID)
    }

    /// The key that verifies this key's signatures.
    public var verificationKey: VerificationKey {
        VerificationKey(material: material, algorithm: algorithm, keyID: keyID)
    }

    /// Returns the private key as unencrypted PKCS#8; nil for a shared secret.
    public func privateKeyPEM() throws(JOSEError) -> SecretBytes? {
        guard case .asymmetric(let key) = material else { return nil }
        return try PEM.text(privateKey: key)
    }

    /// The shared secret; nil for a private key.
    public var secret: SecretBytes? {
        guard case .secret(let secret) = material else { return nil }
        return secret
    }

    /// Whether a secret is shorter than its digest, which RFC 7518 (3.2) advises against and vendors sometimes do.
    public var isShorterThanDigest: Bool {
        guard let secret else { return false }
        return secret.count < algorithm.digestBytes
    }
}

extension SecretBytes {
    /// Returns `count` bytes from libcrypto's random number generator for private material.
    ///
    /// - Throws: `JOSEError` with `.libcrypto` when the generator has no entropy.
    public static func random(count: Int) throws(JOSEError) -> SecretBytes {
        var succeeded = false
        let secret = unsafe SecretBytes(capacity: count) { buffer in
            succeeded =
                unsafe RAND_priv_bytes(buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: count))
                == 1
            return count
        }
        guard succeeded else { throw JOSEError(.libcrypto, "libcrypto's random number generator failed") }
        return secret
    }
}
