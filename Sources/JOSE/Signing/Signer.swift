import COpenSSL

/// Signs with one key, again and again: what libcrypto needs is fetched and set up once, not per signature.
///
/// Not `Sendable`: a signer belongs to one thread at a time. Make one per thread; the key behind them is shared.
@safe
public final class Signer {
    private let mechanism: any SigningMechanism
    /// The key's algorithm.
    public let algorithm: Algorithm

    /// A signer for `key`.
    ///
    /// - Throws: `JOSEError` with `.libcrypto` when libcrypto has no such algorithm or memory.
    public init(_ key: SigningKey) throws(JOSEError) {
        algorithm = key.algorithm
        mechanism =
            switch (key.material, key.algorithm.keyType) {
            case (.secret(let secret), _): try HMACSigning(secret, key.algorithm)
            case (.asymmetric(let evp), .ec(let curve)): try ECDSASigning(evp, key.algorithm, curve)
            case (.asymmetric(let evp), .ed25519): Ed25519Signing(evp)
            case (.asymmetric(let evp), _): try RSASigning(evp, key.algorithm)
            }
    }

    /// The JWS signature of `input`: for ECDSA the raw r‖s of RFC 7518, section 3.4.
    ///
    /// - Throws: `JOSEError` with `.libcrypto`.
    public func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8] {
        defer { clearCryptoErrors() }
        return try mechanism.sign(input)
    }
}

/// One family's way to sign.
protocol SigningMechanism {
    func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8]
}

extension JOSEError {
    static let signingFailed = JOSEError(.libcrypto, "libcrypto could not sign")
}

/// A digest that is fetched once and run on one context.
@safe
final class Hasher {
    let digest: OpaquePointer
    private let context: OpaquePointer

    init(_ name: String) throws(JOSEError) {
        guard let digest = unsafe EVP_MD_fetch(nil, name, nil) else {
            throw JOSEError(.libcrypto, "libcrypto does not offer \(name)")
        }
        guard let context = unsafe EVP_MD_CTX_new() else {
            unsafe EVP_MD_free(digest)
            throw JOSEError(.libcrypto, "libcrypto is out of memory")
        }
        unsafe self.digest = unsafe digest
        unsafe self.context = unsafe context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(digest)
    }

    func hash(_ input: [UInt8]) throws(JOSEError) -> [UInt8] {
        var output = unsafe [UInt8](repeating: 0, count: Int(EVP_MD_get_size(digest)))
        guard unsafe EVP_DigestInit_ex(context, digest, nil) == 1,
            unsafe EVP_DigestUpdate(context, input, input.count) == 1,
            unsafe EVP_DigestFinal_ex(context, &output, nil) == 1
        else { throw .signingFailed }
        return output
    }
}

/// A prepared `EVP_PKEY_sign` of a digest, for RSA and ECDSA.
@safe
final class DigestSigning {
    private let hasher: Hasher
    private let context: OpaquePointer
    private let maximum: Int
    private let key: EVPKey

    init(_ key: EVPKey, _ algorithm: Algorithm) throws(JOSEError) {
        guard let name = algorithm.digestName else { throw .signingFailed }
        self.key = key
        hasher = try Hasher(name)
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { throw .signingFailed }
        guard unsafe EVP_PKEY_sign_init(context) == 1, unsafe setDigest(hasher.digest, algorithm, on: context) else {
            unsafe EVP_PKEY_CTX_free(context)
            throw .signingFailed
        }
        unsafe self.context = unsafe context
        maximum = unsafe Int(EVP_PKEY_get_size(key.pointer))
    }

    deinit { unsafe EVP_PKEY_CTX_free(context) }

    func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8] {
        let digest = try hasher.hash(input)
        var signature = [UInt8](repeating: 0, count: maximum)
        var count = maximum
        guard unsafe EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1 else { throw .signingFailed }
        signature.removeLast(signature.count - count)
        return signature
    }
}

/// Digest and, for RSA, padding. PSS salts are as long as the digest (RFC 7518, section 3.5).
func setDigest(_ digest: OpaquePointer, _ algorithm: Algorithm, on context: OpaquePointer) -> Bool {
    guard unsafe EVP_PKEY_CTX_set_signature_md(context, digest) == 1 else { return false }
    guard algorithm.keyType == .rsa else { return true }
    let padding = algorithm.isPSS ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING
    guard unsafe EVP_PKEY_CTX_set_rsa_padding(context, padding) == 1 else { return false }
    return unsafe !algorithm.isPSS || EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
}

private final class RSASigning: SigningMechanism {
    private let signing: DigestSigning

    init(_ key: EVPKey, _ algorithm: Algorithm) throws(JOSEError) { signing = try DigestSigning(key, algorithm) }

    func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8] { try signing.sign(input) }
}

private final class ECDSASigning: SigningMechanism {
    private let signing: DigestSigning
    private let curve: Algorithm.Curve

    init(_ key: EVPKey, _ algorithm: Algorithm, _ curve: Algorithm.Curve) throws(JOSEError) {
        signing = try DigestSigning(key, algorithm)
        self.curve = curve
    }

    func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8] {
        guard let raw = ECDSASignature.raw(fromDER: try signing.sign(input), width: curve.coordinateBytes) else {
            throw .signingFailed
        }
        return raw
    }
}

private final class Ed25519Signing: SigningMechanism {
    private let key: EVPKey

    init(_ key: EVPKey) { self.key = key }

    func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .signingFailed }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        guard unsafe EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1,
            unsafe EVP_DigestSign(context, &signature, &count, input, input.count) == 1, count == 64
        else { throw .signingFailed }
        return signature
    }
}

/// HMAC with its key schedule computed once: re-initialising without a key keeps it.
@safe
final class HMACSigning: SigningMechanism {
    private let context: OpaquePointer
    private let width: Int

    init(_ secret: SecretBytes, _ algorithm: Algorithm) throws(JOSEError) {
        guard let name = algorithm.digestName, let mac = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
            throw .signingFailed
        }
        defer { unsafe EVP_MAC_free(mac) }
        guard let context = unsafe EVP_MAC_CTX_new(mac) else { throw .signingFailed }
        let isReady = unsafe secret.withBytes { bytes in
            var digestName = Array(name.utf8CString)
            return unsafe digestName.withUnsafeMutableBufferPointer { digest in
                var parameters = unsafe [
                    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                let key = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return unsafe EVP_MAC_init(context, key, bytes.count, &parameters) == 1
            }
        }
        guard isReady else {
            unsafe EVP_MAC_CTX_free(context)
            throw .signingFailed
        }
        unsafe self.context = unsafe context
        width = algorithm.digestBytes
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: width)
        var count = 0
        guard unsafe EVP_MAC_init(context, nil, 0, nil) == 1, unsafe EVP_MAC_update(context, input, input.count) == 1,
            unsafe EVP_MAC_final(context, &output, &count, output.count) == 1, count == width
        else { throw .signingFailed }
        return output
    }
}
