import COpenSSL

/// JSON Web Keys (RFC 7517; members: RFC 7518 section 6, RFC 8037 section 2).
///
/// Public keys go out, public and private keys come in.
public enum JWK {
    /// Returns the public key as a JWK with `kid` (if any), `use` and `alg`; nil for a shared secret, which has no
    /// public form.
    public static func publicJSON(of key: VerificationKey) throws(JOSEError) -> [UInt8]? {
        guard let members = try publicMembers(of: key) else { return nil }
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in members { json.member(name, value) }
        if let keyID = key.keyID { json.member("kid", keyID) }
        json.member("use", "sig")
        json.member("alg", key.algorithm.rawValue)
        json.endObject()
        return json.bytes
    }

    /// Returns a JWK Set (RFC 7517, section 5) of the public keys among `keys`. Shared secrets are never in it.
    public static func setJSON(of keys: [VerificationKey]) throws(JOSEError) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("keys")
        json.beginArray()
        for key in keys {
            if let member = try publicJSON(of: key) { json.raw(member) }
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    /// Returns the RFC 7638 thumbprint (SHA-256, base64url) of a public key; nil for a shared secret, whose thumbprint
    /// would allow to test guesses of it.
    public static func thumbprint(of key: VerificationKey) throws(JOSEError) -> String? {
        guard let members = try publicMembers(of: key) else { return nil }
        var json = JSONWriter()
        json.beginObject()
        // Section 3.2: the required members alone, in lexicographic order.
        for (name, value) in members.sorted(by: { $0.name < $1.name }) { json.member(name, value) }
        json.endObject()
        return Base64.url.encode(SHA256.hash(json.bytes))
    }

    /// Returns a signing key from a private JWK, or from a JWK Set with one private key.
    ///
    /// An RSA key may be `n`, `e` and `d` alone, all that RFC 7518 requires (section 6.3.2): its factors follow from them.
    ///
    /// - Parameters:
    ///   - algorithm: the algorithm for which the key signs; where nil, the JWK's own `alg`.
    ///   - keyID: the key's id; where nil, the JWK's own `kid`.
    /// - Throws: `JOSEError` with `.invalidKey`, `.weakKey` or `.privateKeyRequired`.
    public static func signingKey(
        from text: SecretBytes, algorithm: Algorithm? = nil, keyID: String? = nil
    ) throws(JOSEError) -> SigningKey {
        let jwk = try JWKMembers(onePrivateKeyIn: text)
        try jwk.requireSigningUse()
        let algorithm = try jwk.algorithm(asked: algorithm)
        let keyID = keyID ?? jwk.keyID
        if jwk.type == "oct" {
            return try SigningKey(secret: try jwk.secret("k"), algorithm: algorithm, keyID: keyID)
        }
        guard jwk.has("d") else {
            throw JOSEError(
                .privateKeyRequired, "the JWK has no \"d\": it is a public key, a private one is needed to sign")
        }
        let key = try jwk.evpKey(isPrivate: true)
        try key.require(algorithm)
        let signingKey = SigningKey(material: .asymmetric(key), algorithm: algorithm, keyID: keyID)
        try signingKey.requireOneKey()
        return signingKey
    }

    /// Returns a verification key from a JWK; private members are ignored.
    ///
    /// - Throws: `JOSEError` with `.invalidKey` or `.weakKey`.
    public static func verificationKey(
        from text: SecretBytes, algorithm: Algorithm? = nil, keyID: String? = nil
    ) throws(JOSEError) -> VerificationKey {
        let jwk = try JWKMembers(text)
        let algorithm = try jwk.algorithm(asked: algorithm)
        let keyID = keyID ?? jwk.keyID
        if jwk.type == "oct" {
            return try VerificationKey(secret: try jwk.secret("k"), algorithm: algorithm, keyID: keyID)
        }
        let key = try jwk.evpKey(isPrivate: false)
        try key.require(algorithm)
        return VerificationKey(material: .asymmetric(key), algorithm: algorithm, keyID: keyID)
    }

    /// Returns the verification keys of one public JWK from elsewhere, such as a set's member (RFC 7517, section 5).
    /// They are the same key for each of `algorithms` that its type allows, and for its own `alg` alone where it has
    /// one.
    ///
    /// A key of somebody else's making must not cost more than a signature should: RSA keys have at most 8192 bits, and an
    /// exponent of at most 64.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, also for a shared secret and for a JWK with private members, `.weakKey`, or
    ///   `.unsupportedAlgorithm` where it is good for none of `algorithms`.
    public static func publicKeys(
        from value: JSONValue, for algorithms: Set<Algorithm>
    ) throws(JOSEError) -> [VerificationKey] {
        let jwk = try JWKMembers(publicKey: value)
        if jwk.type == "RSA" { try jwk.requireModestNumbers() }
        let key = try jwk.evpKey(isPrivate: false)
        let fitting = Algorithm.allCases.filter {
            algorithms.contains($0) && key.type == $0.keyType && jwk.allows($0)
        }
        guard !fitting.isEmpty else {
            throw JOSEError(.unsupportedAlgorithm, "the JWK is for none of the algorithms that are wanted")
        }
        var keys: [VerificationKey] = []
        for algorithm in fitting {
            try key.require(algorithm)
            keys.append(VerificationKey(material: .asymmetric(key), algorithm: algorithm, keyID: jwk.keyID))
        }
        return keys
    }

    /// Returns `kty` and the members of a public key.
    private static func publicMembers(of key: VerificationKey) throws(JOSEError) -> [(name: String, value: String)]? {
        guard case .asymmetric(let evp) = key.material else { return nil }
        return try publicMembers(of: evp)
    }

    /// Returns `kty` and the members of the public half of `evp`.
    static func publicMembers(of evp: EVPKey) throws(JOSEError) -> [(name: String, value: String)] {
        let members: [(name: String, value: String)]?
        switch evp.type {
        case .rsa: members = rsaMembers(of: evp)
        case .ec(let curve): members = ecMembers(of: evp, on: curve)
        case .ed25519:
            members = evp.rawPublicKey.map { [("kty", "OKP"), ("crv", "Ed25519"), ("x", Base64.url.encode($0))] }
        case .secret, nil: members = nil
        }
        guard let members else { throw JOSEError(.libcrypto, "the public key's numbers could not be read") }
        return members
    }

    private static func rsaMembers(of key: EVPKey) -> [(name: String, value: String)]? {
        guard let n = key.number(OSSL_PKEY_PARAM_RSA_N), let e = key.number(OSSL_PKEY_PARAM_RSA_E) else { return nil }
        return [("kty", "RSA"), ("n", Base64.url.encode(n)), ("e", Base64.url.encode(e))]
    }

    private static func ecMembers(of key: EVPKey, on curve: Algorithm.Curve) -> [(name: String, value: String)]? {
        let width = curve.coordinateBytes
        guard let x = key.number(OSSL_PKEY_PARAM_EC_PUB_X, width: width),
            let y = key.number(OSSL_PKEY_PARAM_EC_PUB_Y, width: width)
        else { return nil }
        return [("kty", "EC"), ("crv", curve.rawValue), ("x", Base64.url.encode(x)), ("y", Base64.url.encode(y))]
    }
}
