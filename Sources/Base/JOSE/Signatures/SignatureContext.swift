import COpenSSL

/// A context of libcrypto that is prepared to sign with one key many times. Its parts are fetched and set up once, and
/// every signature is written to the same place.
///
/// Not `Sendable`: one per thread. The key behind them is shared, except for RSA, where each context has a copy.
@safe
final class SignatureContext {
    @safe
    private enum Way {
        /// `EVP_PKEY_sign` of a digest, for RSA and ECDSA.
        case digest(Hasher, OpaquePointer)
        /// HMAC with its key schedule computed once: re-initializing without a key keeps it.
        case mac(OpaquePointer)
        /// Ed25519, which hashes by itself.
        case message
    }

    private let way: Way
    private let key: SigningKey
    /// The signature that was made last, as libcrypto writes it: for ECDSA in DER.
    let output: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: `JOSEError` with `.libcrypto` when libcrypto has no such algorithm or memory.
    init(_ key: SigningKey) throws(JOSEError) {
        self.key = key
        let capacity: Int
        switch key.material {
        case .secret(let secret):
            unsafe way = .mac(try Self.hmac(secret, key.algorithm))
            capacity = key.algorithm.digestBytes
        case .asymmetric(let evp):
            capacity = unsafe Int(EVP_PKEY_get_size(evp.pointer))
            if let name = key.algorithm.digestName {
                let hasher = try Hasher(name)
                unsafe way = .digest(hasher, try Self.digestSigning(evp, hasher, key.algorithm))
            } else {
                way = .message
            }
        }
        unsafe output = UnsafeMutableBufferPointer.allocate(capacity: capacity)
    }

    deinit {
        switch way {
        case .digest(_, let context): unsafe EVP_PKEY_CTX_free(context)
        case .mac(let context): unsafe EVP_MAC_CTX_free(context)
        case .message: break
        }
        unsafe output.deallocate()
    }

    /// Signs `input`.
    ///
    /// - Returns: the number of bytes of `output` that are the signature; nil where libcrypto could not sign.
    func sign(_ input: UnsafeBufferPointer<UInt8>) -> Int? {
        var count = unsafe output.count
        let isSigned: Bool
        switch way {
        case .digest(let hasher, let context):
            isSigned =
                unsafe hasher.hash(input)
                && EVP_PKEY_sign(context, output.baseAddress, &count, hasher.output.baseAddress, hasher.output.count)
                    == 1
        case .mac(let context):
            isSigned =
                unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, input.baseAddress, input.count) == 1
                && EVP_MAC_final(context, output.baseAddress, &count, output.count) == 1
        case .message: isSigned = unsafe signMessage(input, &count)
        }
        if isSigned { return count }
        clearCryptoErrors()
        return nil
    }

    private func signMessage(_ input: UnsafeBufferPointer<UInt8>, _ count: inout Int) -> Bool {
        guard case .asymmetric(let key) = key.material, let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        return unsafe EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1
            && EVP_DigestSign(context, output.baseAddress, &count, input.baseAddress, input.count) == 1
    }

    // MARK: Setting up

    private static func digestSigning(
        _ key: EVPKey, _ hasher: Hasher, _ algorithm: Algorithm
    ) throws(JOSEError) -> OpaquePointer {
        // libcrypto blinds an RSA key's private operation with numbers that belong to the thread which signed with it first;
        // all other threads share another set, behind a lock that each renewal holds for as long as a signature takes.
        let own = algorithm.keyType == .rsa ? try key.copy() : key
        // The context holds the key from here on.
        let made = unsafe withExtendedLifetime(own) { unsafe EVP_PKEY_CTX_new_from_pkey(nil, own.pointer, nil) }
        guard let context = unsafe made else { throw .signingFailed }
        guard unsafe EVP_PKEY_sign_init(context) == 1, unsafe setDigest(hasher.digest, algorithm, on: context) else {
            unsafe EVP_PKEY_CTX_free(context)
            throw .signingFailed
        }
        return unsafe context
    }

    /// Sets the digest and, for RSA, the padding. PSS salts are as long as the digest (RFC 7518, section 3.5).
    private static func setDigest(
        _ digest: OpaquePointer, _ algorithm: Algorithm, on context: OpaquePointer
    ) -> Bool {
        guard unsafe EVP_PKEY_CTX_set_signature_md(context, digest) == 1 else { return false }
        guard algorithm.keyType == .rsa else { return true }
        let padding = algorithm.isPSS ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING
        guard unsafe EVP_PKEY_CTX_set_rsa_padding(context, padding) == 1 else { return false }
        return unsafe !algorithm.isPSS || EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
    }

    private static func hmac(_ secret: SecretBytes, _ algorithm: Algorithm) throws(JOSEError) -> OpaquePointer {
        guard let name = algorithm.digestName, let mac = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
            throw .signingFailed
        }
        defer { unsafe EVP_MAC_free(mac) }
        guard let context = unsafe EVP_MAC_CTX_new(mac) else { throw .signingFailed }
        let isReady = unsafe secret.withBytes { bytes in
            let key = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe remint_hmac_init(context, key, bytes.count, name) == 1
        }
        guard isReady else {
            unsafe EVP_MAC_CTX_free(context)
            throw .signingFailed
        }
        return unsafe context
    }
}

extension JOSEError {
    static let signingFailed = JOSEError(.libcrypto, "libcrypto could not sign")
}
