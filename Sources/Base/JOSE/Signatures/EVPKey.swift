import COpenSSL

/// An owned `EVP_PKEY`, freed (and its private numbers cleansed by libcrypto) with the last reference.
///
/// `@unchecked Sendable`: the key is not changed after the initializer, and libcrypto allows any number of threads to
/// use one `EVP_PKEY`. Signing changes only the numbers that blind an RSA key, which libcrypto protects itself.
@safe
final class EVPKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of `pointer`, which this object frees.
    init(owning pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Returns a new key pair from libcrypto's random numbers; a shared secret is no key pair.
    ///
    /// - Throws: `JOSEError` with `.weakKey` for fewer than 2048 bits, `.libcrypto` when no key could be made.
    static func generate(_ type: Algorithm.KeyType, rsaBits: Int = 2048) throws(JOSEError) -> EVPKey {
        let pointer: OpaquePointer?
        switch type {
        case .rsa:
            guard (2048...16384).contains(rsaBits) else {
                throw JOSEError(.weakKey, "an RSA key has 2048 to 16384 bits, not \(rsaBits)")
            }
            unsafe pointer = unsafe remint_generate_rsa(UInt32(rsaBits))
        case .ec(let curve): unsafe pointer = unsafe remint_generate_ec(curve.groupName)
        case .ed25519: unsafe pointer = unsafe remint_generate_ed25519()
        case .secret: unsafe pointer = nil
        }
        guard let pointer = unsafe pointer else { throw JOSEError(.libcrypto, "libcrypto could not generate a key") }
        return unsafe EVPKey(owning: pointer)
    }

    /// Returns the same key in an object of its own.
    ///
    /// - Throws: `JOSEError` with `.libcrypto` when there is no memory.
    func copy() throws(JOSEError) -> EVPKey {
        guard let pointer = unsafe EVP_PKEY_dup(pointer) else {
            clearCryptoErrors()
            throw JOSEError(.libcrypto, "libcrypto could not copy the key")
        }
        return unsafe EVPKey(owning: pointer)
    }

    /// The key's type; nil for a key that no algorithm here can use.
    var type: Algorithm.KeyType? {
        switch unsafe EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_RSA: return .rsa
        case EVP_PKEY_ED25519: return .ed25519
        case EVP_PKEY_EC: return curve.map { .ec($0) }
        default: return nil
        }
    }

    /// Returns whether both have the same public key.
    func hasSamePublicKey(as other: EVPKey) -> Bool {
        // Keys of two kinds are an error to libcrypto.
        defer { clearCryptoErrors() }
        return unsafe EVP_PKEY_eq(pointer, other.pointer) == 1
    }

    var bits: Int { unsafe Int(EVP_PKEY_get_bits(pointer)) }

    private var curve: Algorithm.Curve? {
        groupName.flatMap { name in Algorithm.Curve.allCases.first { $0.groupName == name } }
    }

    private var groupName: String? {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else { return nil }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns a number of the key by libcrypto's parameter name, big-endian, padded to `width` bytes where one is
    /// given.
    func number(_ name: String, width: Int? = nil) -> [UInt8]? {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number = unsafe number else { return nil }
        defer { unsafe BN_clear_free(number) }
        var bytes = unsafe [UInt8](repeating: 0, count: width ?? Int(BN_num_bits(number) + 7) / 8)
        guard unsafe BN_bn2binpad(number, &bytes, Int32(bytes.count)) >= 0 else { return nil }
        return bytes
    }

    /// The public key's bytes, for the curves that have no coordinates.
    var rawPublicKey: [UInt8]? {
        var count = 0
        guard unsafe EVP_PKEY_get_raw_public_key(pointer, nil, &count) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_PKEY_get_raw_public_key(pointer, &bytes, &count) == 1 else { return nil }
        return bytes
    }

    /// Makes libcrypto write an EC key with its curve's name and an uncompressed point, whatever form its file had:
    /// many verifiers read no other form. Part of making the key, because other threads may use it from then on.
    ///
    /// - Throws: `JOSEError` with `.libcrypto`.
    func requirePlainForm() throws(JOSEError) {
        guard case .ec? = type else { return }
        guard unsafe EVP_PKEY_set_utf8_string_param(pointer, OSSL_PKEY_PARAM_EC_ENCODING, "named_curve") == 1,
            unsafe EVP_PKEY_set_utf8_string_param(
                pointer, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed") == 1
        else { throw JOSEError(.libcrypto, "libcrypto could not set the form of the public key") }
    }

    /// The kind of key for a message; libcrypto's names where no algorithm here can use it.
    private var kind: String {
        if let type { return type.description }
        guard let name = unsafe EVP_PKEY_get0_type_name(pointer) else { return "another kind of" }
        let family = unsafe String(cString: name)
        if family == "RSA-PSS" { return "RSASSA-PSS-only (id-RSASSA-PSS)" }
        return groupName.map { "\($0) (\(family))" } ?? family
    }

    /// Checks that the key is fit for `algorithm`.
    func require(_ algorithm: Algorithm) throws(JOSEError) {
        guard let type, type == algorithm.keyType else {
            throw JOSEError(
                .invalidKey, "\(algorithm.rawValue) needs a key of type \(algorithm.keyType), this is a \(kind) key")
        }
        try requireStrength()
    }

    /// Checks the requirements of every algorithm on an RSA key: enough bits, and an exponent that has an effect.
    func requireStrength() throws(JOSEError) {
        guard type == .rsa else { return }
        if bits < 2048 {
            throw JOSEError(.weakKey, "the RSA key has \(bits) bits; RFC 7518 requires at least 2048")
        }
        // With an exponent of 1 the padded digest is its own signature, and the padded plaintext its own ciphertext.
        guard let exponent = number(OSSL_PKEY_PARAM_RSA_E), let last = exponent.last, last & 1 == 1, exponent != [1]
        else {
            throw JOSEError(.invalidKey, "the RSA key's public exponent is not an odd number above 1")
        }
        // libcrypto verifies with no longer one (OPENSSL_RSA_MAX_PUBEXP_BITS).
        guard bits <= 3072 || exponent.count <= 8 else {
            throw JOSEError(
                .invalidKey,
                "the RSA key has more than 3072 bits and a public exponent of more than 64, which verifiers refuse; make one with the exponent 65537"
            )
        }
    }
}

/// Clears libcrypto's queue of errors, which is per thread and must not affect the next call's verdict.
func clearCryptoErrors() { ERR_clear_error() }
