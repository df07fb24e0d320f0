/// A recipient's key, public or private, bound to the one algorithm that its JWK states.
struct EncryptionKey: Sendable {
    enum Way: Sendable {
        case agreement(Algorithm.Curve)
        case transport
    }

    let way: Way
    let key: EVPKey
    let keyID: String?

    var algorithm: KeyManagementAlgorithm {
        switch way {
        case .agreement: .ecdhESA256KW
        case .transport: .rsaOAEP256
        }
    }

    /// - Throws: `JOSEError` with `.invalidKey` or `.weakKey`.
    init(_ key: EVPKey, _ algorithm: KeyManagementAlgorithm, keyID: String?) throws(JOSEError) {
        switch (algorithm, key.type) {
        case (.ecdhESA256KW, .ec(let curve)):
            try key.requireValidPoint()
            way = .agreement(curve)
        case (.rsaOAEP256, .rsa): way = .transport
        case (.ecdhESA256KW, _): throw JOSEError(.invalidKey, "\(algorithm.rawValue) needs a JWK whose \"kty\" is EC")
        case (.rsaOAEP256, _): throw JOSEError(.invalidKey, "\(algorithm.rawValue) needs a JWK whose \"kty\" is RSA")
        }
        try key.requireStrength()
        self.key = key
        self.keyID = keyID
    }

    /// - Throws: `JOSEError` with `.invalidKey`, `.weakKey` or `.unsupportedAlgorithm`.
    init(_ jwk: JWKMembers, isPrivate: Bool) throws(JOSEError) {
        guard jwk.type == "EC" || jwk.type == "RSA" else {
            throw JOSEError(.invalidKey, "the JWK's \"kty\" is neither EC nor RSA, so nothing can be encrypted to it")
        }
        if jwk.has("use"), jwk.string("use") != "enc" {
            throw JOSEError(.invalidKey, "the JWK's \"use\" is not \"enc\"; make a key for encryption alone")
        }
        if jwk.has("kid"), jwk.keyID == nil { throw JOSEError(.invalidKey, "the JWK's \"kid\" is not a string") }
        guard let stated = jwk.string("alg") else {
            throw JOSEError(.invalidKey, "the JWK has no string \"alg\"; state ECDH-ES+A256KW or RSA-OAEP-256")
        }
        guard let algorithm = KeyManagementAlgorithm(rawValue: stated) else {
            throw JOSEError(
                .unsupportedAlgorithm, "the JWK's \"alg\" is neither ECDH-ES+A256KW nor RSA-OAEP-256")
        }
        try self.init(jwk.evpKey(isPrivate: isPrivate), algorithm, keyID: jwk.keyID)
    }
}
