import JOSE

/// A proof that a request's sender holds a key (RFC 9449, section 4.2), checked but for whether it was used before.
struct DPoPProof: Sendable {
    /// The RFC 7638 thumbprint of the key.
    let thumbprint: String
    /// The proof's `jti`.
    let id: String
    /// The proof's `nonce`, where it has one.
    let nonce: String?

    /// - Throws: `AccessRefusal` with one of the proof's reasons.
    init(
        _ bytes: [UInt8], for request: ProvenRequest, accessToken: [UInt8], rules: DPoPRules, now: UnixTime
    ) throws(AccessRefusal) {
        let token: CompactJWS
        let claims: JSONValue
        do throws(JOSEError) {
            token = try CompactJWS(parsing: bytes, limits: .init(bytes: rules.mostBytes))
            claims = try token.claims()
        } catch { throw AccessRefusal(.proofMalformed) }
        guard token.header["typ"]?.string?.mediaSubtype == "dpop+jwt" else { throw AccessRefusal(.proofMalformed) }
        id = try Self.id(claims, rules)
        nonce = claims["nonce"]?.string
        try Self.check(claims, names: request)
        try Self.checkTime(claims, rules, now)
        let ath = Base64.url.encode(SHA256.hash(accessToken))
        guard ath.hasSameBytes(as: claims["ath"]?.string) else { throw AccessRefusal(.proofWrongSession) }
        // The signature is what costs, and comes last.
        let key = try Self.key(of: token, rules)
        guard key.isValid(token.signature, of: token.signingInput) else { throw AccessRefusal(.proofBadSignature) }
        thumbprint = try Self.thumbprint(of: key)
    }

    private static func id(_ claims: JSONValue, _ rules: DPoPRules) throws(AccessRefusal) -> String {
        guard let id = claims["jti"]?.string, !id.isEmpty, id.utf8.count <= rules.longestID else {
            throw AccessRefusal(.proofMalformed)
        }
        return id
    }

    private static func check(_ claims: JSONValue, names request: ProvenRequest) throws(AccessRefusal) {
        guard let method = claims["htm"]?.string, let url = claims["htu"]?.string else {
            throw AccessRefusal(.proofMalformed)
        }
        guard method.hasSameBytes(as: request.method), ComparableURL(url) == request.url else {
            throw AccessRefusal(.proofWrongRequest)
        }
    }

    private static func checkTime(_ claims: JSONValue, _ rules: DPoPRules, _ now: UnixTime) throws(AccessRefusal) {
        guard let issued = claims["iat"]?.numericDate else { throw AccessRefusal(.proofMalformed) }
        let last = issued.advanced(by: max(rules.maxAge, .zero) + rules.boundedSkew)
        guard issued <= now.advanced(by: rules.boundedSkew), now <= last else {
            throw AccessRefusal(.proofWrongTime)
        }
    }

    /// Returns the key in the header, for the header's algorithm: it is the sender's own key, and can be no key of
    /// another kind.
    private static func key(of token: CompactJWS, _ rules: DPoPRules) throws(AccessRefusal) -> VerificationKey {
        guard let algorithm = Algorithm(named: token.algorithmName), algorithm.keyType != .secret,
            rules.algorithms.contains(algorithm), let jwk = token.header["jwk"], jwk.isObject, isModest(jwk),
            jwk.jwkMember("use").map({ $0.string == "sig" }) ?? true,
            let key = try? JWK.publicKeys(from: jwk, for: [algorithm]).first
        else { throw AccessRefusal(.proofWrongKey) }
        return key
    }

    /// Returns whether the key is short enough: a long key costs the gateway more than its sender. RSA keys end at 4096
    /// bits, which are 683 characters.
    private static func isModest(_ jwk: JSONValue) -> Bool { jwk["n"].map { $0.rawBytes.count <= 683 } ?? true }

    private static func thumbprint(of key: VerificationKey) throws(AccessRefusal) -> String {
        guard let thumbprint = try? JWK.thumbprint(of: key) else { throw AccessRefusal(.proofWrongKey) }
        return thumbprint
    }
}
