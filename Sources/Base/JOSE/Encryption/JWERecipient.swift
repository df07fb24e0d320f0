import COpenSSL

/// A recipient of encrypted tokens: a public key, bound to the algorithm its JWK states.
///
/// `Sendable` and meant to be kept: the key is read once, and so is the part of the header that every token shares.
public struct JWERecipient: Sendable {
    private let key: EncryptionKey
    /// The header up to the first member that differs from token to token.
    private let header: JSONWriter
    /// The purpose of an agreement. It is the same for all tokens, which name no parties.
    private let info: [UInt8]

    /// The way in which the message's key reaches the recipient.
    public var algorithm: KeyManagementAlgorithm { key.algorithm }
    /// The id the recipient knows its key by, if any; it goes into the header.
    public var keyID: String? { key.keyID }

    /// The longest plaintext, in bytes: 1 GiB.
    private static let longest = 1 << 30

    init(_ key: EncryptionKey) {
        self.key = key
        var json = JSONWriter()
        json.beginObject()
        json.member("alg", key.algorithm.rawValue)
        json.member("enc", A256GCM.name)
        if let keyID = key.keyID { json.member("kid", keyID) }
        if case .agreement(let curve) = key.way {
            json.name("epk")
            json.beginObject()
            json.member("kty", "EC")
            json.member("crv", curve.rawValue)
        }
        header = json
        info = KeyAgreement.info()
    }

    /// A recipient from its public JWK (RFC 7517): `kty` EC on P-256, P-384 or P-521 with the `alg` ECDH-ES+A256KW, or RSA of
    /// at least 2048 bits with the `alg` RSA-OAEP-256. `use`, where it is there, must be `enc`.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, `.weakKey` or `.unsupportedAlgorithm`. A JWK with private members is refused
    ///   with `.invalidKey`: who encrypts needs none of them.
    public init(publicJWK text: SecretBytes) throws(JOSEError) {
        let jwk = try JWKMembers(text)
        if let name = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].first(where: jwk.has) {
            throw JOSEError(
                .invalidKey, "the JWK holds a private key (\"\(name)\"); name a file with its public members alone")
        }
        self.init(try EncryptionKey(jwk, isPrivate: false))
        // libcrypto looks at some of an RSA key's numbers only when they are used.
        guard (try? seal([])) != nil else {
            throw JOSEError(.invalidKey, "nothing can be encrypted to the JWK; export the public key again")
        }
    }

    /// Returns the public key as a JWK with `kid` (if any), `use` and `alg`, as `init(publicJWK:)` accepts it.
    ///
    /// - Throws: `JOSEError` with `.libcrypto`.
    public func publicJSON() throws(JOSEError) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in try JWK.publicMembers(of: key.key) { json.member(name, value) }
        if let keyID { json.member("kid", keyID) }
        json.member("use", "enc")
        json.member("alg", algorithm.rawValue)
        json.endObject()
        return json.bytes
    }

    /// Returns the compact JWE (RFC 7516, section 7.1) of `plaintext`, with a key, an initialization vector and, for an
    /// agreement, an ephemeral key of its own. The content is encrypted with A256GCM.
    ///
    /// - Parameters:
    ///   - plaintext: at most 1 GiB. Its length can be read off the result.
    ///   - contentType: the header's `cty`: `JWT` where the plaintext is one (RFC 7519, section 5.2).
    ///   - type: the header's `typ`.
    /// - Throws: `JOSEError` with `.tokenTooLarge` or `.libcrypto`.
    public func seal(
        _ plaintext: [UInt8], contentType: String? = nil, type: String? = nil
    ) throws(JOSEError) -> [UInt8] {
        guard plaintext.count <= Self.longest else {
            throw JOSEError(.tokenTooLarge, "the plaintext is longer than \(Self.longest) bytes")
        }
        let token: [UInt8]? = unsafe SecretMemory.withScratch(A256GCM.keyBytes) { messageKey in
            guard unsafe RAND_priv_bytes(messageKey.baseAddress, Int32(messageKey.count)) == 1 else { return nil }
            let messageKey = UnsafeBufferPointer(messageKey)
            guard let wrapped = unsafe wrap(messageKey) else { return nil }
            var token = encodedHeader(wrapped, contentType: contentType, type: type)
            guard let sealed = unsafe A256GCM.encrypt(plaintext, key: messageKey, additionalData: token) else {
                return nil
            }
            for part in [wrapped.encryptedKey, sealed.iv, sealed.ciphertext, sealed.tag] {
                token.append(UInt8(ascii: "."))
                Base64.url.encode(part, appendingTo: &token)
            }
            return token
        }
        guard let token else {
            clearCryptoErrors()
            throw JOSEError(.libcrypto, "libcrypto could not encrypt")
        }
        return token
    }

    /// The message's key as the recipient gets it.
    private struct WrappedKey {
        let encryptedKey: [UInt8]
        /// The public half of the sender's key: a four, x and y.
        var ephemeralPoint: [UInt8] = []
    }

    @unsafe private func wrap(_ messageKey: UnsafeBufferPointer<UInt8>) -> WrappedKey? {
        switch key.way {
        case .transport:
            return unsafe KeyTransport.encrypt(messageKey, to: key.key).map { WrappedKey(encryptedKey: $0) }
        case .agreement(let curve):
            guard let ephemeral = key.key.ephemeralKey(), let point = ephemeral.point(on: curve) else { return nil }
            let agreement = KeyAgreement(own: ephemeral, peer: key.key, isPeerChecked: true, curve: curve, info: info)
            let encryptedKey = unsafe agreement.withWrappingKey { unsafe KeyWrap.wrap(messageKey, under: $0) }
            return encryptedKey.map { WrappedKey(encryptedKey: $0, ephemeralPoint: point) }
        }
    }

    private func encodedHeader(_ wrapped: WrappedKey, contentType: String?, type: String?) -> [UInt8] {
        var json = header
        if case .agreement(let curve) = key.way {
            let width = curve.coordinateBytes
            for (name, start) in [("x", 1), ("y", 1 + width)] {
                json.name(name)
                var coordinate: [UInt8] = []
                Base64.url.encode(wrapped.ephemeralPoint[start..<start + width], appendingTo: &coordinate)
                json.unescapedString(coordinate)
            }
            json.endObject()
        }
        if let type { json.member("typ", type) }
        if let contentType { json.member("cty", contentType) }
        json.endObject()
        var encoded: [UInt8] = []
        Base64.url.encode(json.bytes, appendingTo: &encoded)
        return encoded
    }
}

extension EVPKey {
    /// Returns a new key pair on the curve of this one. Setting up the curve by its name would take longer than making
    /// the key.
    fileprivate func ephemeralKey() -> EVPKey? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_generate(context, &made) == 1 else {
            return nil
        }
        return unsafe made.map { unsafe EVPKey(owning: $0) }
    }

    /// Returns the public point, uncompressed (SEC 1, section 2.3.3): a four, x and y.
    fileprivate func point(on curve: Algorithm.Curve) -> [UInt8]? {
        var point = [UInt8](repeating: 0, count: 1 + 2 * curve.coordinateBytes)
        var count = 0
        guard
            unsafe EVP_PKEY_get_octet_string_param(pointer, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count) == 1,
            count == point.count, point.first == 4
        else { return nil }
        return point
    }
}
