import COpenSSL

/// The members of one JWK on their way into libcrypto.
struct JWKMembers {
    /// The text, which `root` reads; overwritten when the import is over. nil for a JWK inside another text.
    private let text: SecretArray?
    private let root: JSONValue
    let type: String

    init(_ text: SecretBytes) throws(JOSEError) {
        let text = SecretArray(copying: text.withoutByteOrderMark())
        self.text = text
        root = try Self.parse(text)
        type = try Self.type(of: root)
    }

    /// A JWK, or the one private key of a JWK Set (RFC 7517, section 5).
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, `.privateKeyRequired`.
    init(onePrivateKeyIn text: SecretBytes) throws(JOSEError) {
        let text = SecretArray(copying: text.withoutByteOrderMark())
        self.text = text
        let parsed = try Self.parse(text)
        guard parsed["kty"] == nil, let keys = parsed["keys"], keys.isArray else {
            root = parsed
            type = try Self.type(of: parsed)
            return
        }
        let elements = keys.elements.filter { $0.jwkMember("d") != nil || $0.jwkMember("k") != nil }
        guard let only = elements.first else {
            throw JOSEError(.privateKeyRequired, "the JWK Set has no private key; a private one is needed to sign")
        }
        guard elements.count == 1 else {
            throw JOSEError(
                .invalidKey,
                "the JWK Set has \(elements.count.of("private key")); write the one to import to a file of its own")
        }
        root = only
        type = try Self.type(of: only)
    }

    private static func parse(_ text: SecretArray) throws(JOSEError) -> JSONValue {
        do throws(JSONError) {
            return try JSONDocument(parsing: text.bytes, limits: .init(bytes: 1 << 16, depth: 8)).root
        } catch {
            guard !text.bytes.starts(with: Array("-----BEGIN".utf8)) else {
                throw JOSEError(.invalidKey, "not a JWK: this is PEM, which keys import reads with --pem")
            }
            throw JOSEError(.invalidKey, "not a JWK: \(error)")
        }
    }

    /// A public JWK inside another text: a set's member, a header's `jwk`.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, also where it holds a member that is private (RFC 7518, sections 6.2.2,
    ///   6.3.2 and 6.4).
    init(publicKey value: JSONValue) throws(JOSEError) {
        text = nil
        root = value
        type = try Self.type(of: value)
        for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] where value.jwkMember(name) != nil {
            throw JOSEError(
                .invalidKey, "the JWK holds the private member \"\(name)\"; only public keys are taken here")
        }
    }

    private static func type(of root: JSONValue) throws(JOSEError) -> String {
        guard let type = root.jwkMember("kty")?.string else { throw JOSEError(.invalidKey, "the JWK has no \"kty\"") }
        return type
    }

    var keyID: String? { string("kid") }

    func string(_ name: String) -> String? { root.jwkMember(name)?.string }

    func has(_ name: String) -> Bool { root.jwkMember(name) != nil }

    func algorithm(asked: Algorithm?) throws(JOSEError) -> Algorithm {
        let stated = string("alg")
        if let asked {
            guard stated.map({ Algorithm(named: $0) == asked }) ?? true else {
                throw JOSEError(
                    .invalidKey,
                    "the JWK's \"alg\" is not \(asked.rawValue); import a key for \(asked.rawValue), or correct \"alg\" where it is wrong"
                )
            }
            return asked
        }
        guard let stated else { throw JOSEError(.invalidKey, "the JWK has no \"alg\"; state the algorithm") }
        guard let algorithm = Algorithm(named: stated) else {
            throw JOSEError(.unsupportedAlgorithm, "the JWK's \"alg\" is not an algorithm offered here")
        }
        return algorithm
    }

    /// Returns whether the JWK's own `alg`, if it has one, is this algorithm.
    func allows(_ algorithm: Algorithm) -> Bool {
        guard let stated = root.jwkMember("alg") else { return true }
        return stated.string.flatMap(Algorithm.init(named:)) == algorithm
    }

    /// Checks that the key's owner means it for signatures (RFC 7517, sections 4.2 and 4.3). One key for two purposes lets the
    /// answers of one serve against the other.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`.
    func requireSigningUse() throws(JOSEError) {
        if let use = root.jwkMember("use"), use.string != "sig" {
            throw JOSEError(
                .invalidKey,
                "the JWK's \"use\" is not \"sig\", so it is no key for signatures; import another key, or write \"use\": \"sig\" where it is wrong"
            )
        }
        if let operations = root.jwkMember("key_ops"), !operations.elements.contains(where: { $0.string == "sign" }) {
            throw JOSEError(
                .invalidKey,
                "the JWK's \"key_ops\" lacks \"sign\", so it is no key to sign with; import another key, or write \"key_ops\": [\"sign\"] where it is wrong"
            )
        }
    }

    /// Checks that an RSA key's numbers are not so long that they only serve to keep a verifier busy.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`.
    func requireModestNumbers() throws(JOSEError) {
        guard try bytes("n").count <= 1024, try bytes("e").count <= 8 else {
            throw JOSEError(.invalidKey, "an RSA key has at most 8192 bits here, and an exponent of at most 64")
        }
    }

    /// Returns the bytes of a private member.
    func secret(_ name: String) throws(JOSEError) -> SecretBytes {
        try member(name) { member throws(JOSEError) in try Base64.url.decodeSecret(member) }
    }

    func evpKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        switch type {
        case "RSA": try rsaKey(isPrivate: isPrivate)
        case "EC": try ecKey(isPrivate: isPrivate)
        case "OKP": try okpKey(isPrivate: isPrivate)
        default: throw JOSEError(.invalidKey, "the JWK's \"kty\" is none of RSA, EC, OKP, oct")
        }
    }

    /// Returns the bytes of a public member.
    private func bytes(_ name: String) throws(JOSEError) -> [UInt8] {
        try member(name) { member throws(JOSEError) in try Base64.url.decoded(member) }
    }

    private func member<Bytes>(
        _ name: String, _ decode: (ArraySlice<UInt8>) throws(JOSEError) -> Bytes
    ) throws(JOSEError) -> Bytes {
        guard let member = root.jwkMember(name), member.isString else {
            throw JOSEError(.invalidKey, "the JWK lacks the string member \"\(name)\"")
        }
        do throws(JOSEError) { return try decode(member.rawBytes) } catch {
            guard member.rawBytes.last != UInt8(ascii: "=") else {
                throw JOSEError(
                    .invalidKey, "the JWK's \"\(name)\" is padded with \"=\"; base64url is not (RFC 7515, section 2)")
            }
            throw JOSEError(
                .invalidKey, "the JWK's \"\(name)\" is not base64url (RFC 7515, section 2): \(error.message)")
        }
    }

    private func rsaKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        let (modulus, exponent) = (try bytes("n"), try bytes("e"))
        let parameters = try KeyParameters()
        try parameters.push(OSSL_PKEY_PARAM_RSA_N, number: modulus)
        try parameters.push(OSSL_PKEY_PARAM_RSA_E, number: exponent)
        guard isPrivate else { return try parameters.key("RSA", isPrivate: false) }
        guard !has("oth") else {
            throw JOSEError(
                .invalidKey, "the JWK is an RSA key of more than two primes (\"oth\"), which are not offered")
        }
        let d = try privateNumber("d")
        try parameters.push(OSSL_PKEY_PARAM_RSA_D, number: d)
        if RSAFactors.members.contains(where: { has($0.jwk) }) {
            // All five or none (RFC 7518, section 6.3.2).
            for (member, name) in RSAFactors.members {
                try parameters.push(name, number: privateNumber(member))
            }
        } else {
            // A key too short to use is refused before its factors cost anything.
            try rsaKey(isPrivate: false).requireStrength()
            let factors = try RSAFactors.find(modulus: modulus, exponent: exponent, d: d)
            for (number, member) in zip(factors, RSAFactors.members) {
                try parameters.push(member.libcrypto, number: number)
            }
        }
        let key = try parameters.key("RSA", isPrivate: true)
        try key.requireConsistency()
        return key
    }

    /// Returns the bytes of a private number of an RSA key, without leading zeros (Base64urlUInt: RFC 7518, section 2).
    private func privateNumber(_ name: String) throws(JOSEError) -> SecretBytes {
        let number = try secret(name)
        guard unsafe number.withBytes({ unsafe $0.first }) != 0 else {
            throw JOSEError(
                .invalidKey,
                "the JWK's \"\(name)\" begins with a zero byte; a number has none there (RFC 7518, section 2)")
        }
        return number
    }

    private func ecKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        guard let curve = string("crv").flatMap(Algorithm.Curve.init(rawValue:)) else {
            throw JOSEError(.invalidKey, "the JWK's \"crv\" is none of P-256, P-384, P-521")
        }
        let x = try bytes("x"), y = try bytes("y")
        guard x.count == curve.coordinateBytes, y.count == curve.coordinateBytes else {
            throw JOSEError(
                .invalidKey, "a coordinate on \(curve.rawValue) is \(curve.coordinateBytes) bytes (RFC 7518, 6.2.1.2)")
        }
        let parameters = try KeyParameters()
        try parameters.push(OSSL_PKEY_PARAM_GROUP_NAME, text: curve.groupName)
        try parameters.push(OSSL_PKEY_PARAM_PUB_KEY, octets: [4] + x + y)
        if isPrivate {
            let d = try secret("d")
            guard d.count == curve.coordinateBytes else {
                throw JOSEError(
                    .invalidKey,
                    "the JWK's \"d\" has \(d.count.of("byte")); on \(curve.rawValue) it has \(curve.coordinateBytes) (RFC 7518, 6.2.2.1)"
                )
            }
            try parameters.push(OSSL_PKEY_PARAM_PRIV_KEY, number: d)
        }
        let key = try parameters.key("EC", isPrivate: isPrivate)
        if isPrivate { try key.requireConsistency() }
        return key
    }

    private func okpKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        guard string("crv") == "Ed25519" else {
            throw JOSEError(.invalidKey, "the JWK's \"crv\" is not Ed25519, the only one offered for OKP")
        }
        let x = try bytes("x")
        let publicKey = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, x, x.count).map {
            unsafe EVPKey(owning: $0)
        }
        guard let publicKey else {
            clearCryptoErrors()
            throw JOSEError(.invalidKey, "the JWK's \"x\" is not an Ed25519 public key")
        }
        guard isPrivate else { return publicKey }
        let privateKey = unsafe try secret("d").withBytes { d in
            let bytes = unsafe d.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, d.count).map {
                unsafe EVPKey(owning: $0)
            }
        }
        guard let privateKey, privateKey.hasSamePublicKey(as: publicKey) else {
            clearCryptoErrors()
            throw JOSEError(.invalidKey, "the JWK's \"d\" and \"x\" are not one Ed25519 key")
        }
        return privateKey
    }
}

extension EVPKey {
    /// Checks that the private and the public numbers belong together.
    func requireConsistency() throws(JOSEError) {
        guard unsafe try check({ unsafe EVP_PKEY_pairwise_check($0) }) else {
            throw JOSEError(.invalidKey, "the JWK's private and public members are not one key")
        }
    }

    /// Checks that the public key is a point of its curve's group, and not the one at infinity.
    func requireValidPoint() throws(JOSEError) {
        guard unsafe try check({ unsafe EVP_PKEY_public_check($0) }) else {
            throw JOSEError(.invalidKey, "the JWK's \"x\" and \"y\" are not a point of its curve")
        }
    }

    private func check(_ check: (OpaquePointer) -> Int32) throws(JOSEError) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else {
            throw JOSEError(.libcrypto, "libcrypto could not check the key")
        }
        defer {
            unsafe EVP_PKEY_CTX_free(context)
            clearCryptoErrors()
        }
        return unsafe check(context) == 1
    }
}
