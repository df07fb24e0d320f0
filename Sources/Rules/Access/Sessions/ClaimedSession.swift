import JOSE

/// The unverified claims of a token: a session, if its signature is the issuer's.
///
/// The gateway reads claims before it looks for keys. It does not trust them: they can only get a token refused. But an
/// expired or foreign token is refused as such, and its caller is not asked to retry later for want of its key.
struct ClaimedSession {
    let token: CompactJWS
    let algorithm: Algorithm
    let session: Session
    /// The time of `iat`; nil where there is none.
    let issuedAt: UnixTime?
    /// Whether the user's id is longer than Remint allows. The session may be valid all the same, so the gateway
    /// reports that only after it checked the signature.
    let isUserTooLong: Bool

    init(_ bytes: [UInt8], rules: SessionRules, now: UnixTime) throws(AccessRefusal) {
        token = try Self.parse(bytes, rules)
        guard let algorithm = Algorithm(named: token.algorithmName), rules.algorithms.contains(algorithm) else {
            throw AccessRefusal(.wrongAlgorithm)
        }
        self.algorithm = algorithm
        try Self.checkType(token.header)
        if let keyID = token.keyID, keyID.utf8.count > KeySet.longestKeyID { throw AccessRefusal(.unknownKey) }
        let claims: JSONValue
        do throws(JOSEError) { claims = try token.claims() } catch { throw AccessRefusal(.malformed) }
        guard let issuer = claims["iss"]?.string, issuer.hasSameBytes(as: rules.issuer) else {
            throw AccessRefusal(.wrongIssuer)
        }
        try Self.checkAudience(claims["aud"], rules.audience)
        let expiry = try Self.checkTimes(claims, rules.boundedSkew, now)
        issuedAt = claims["iat"]?.numericDate
        let users = Self.users(claims, rules)
        guard !users.isEmpty else { throw AccessRefusal(.noUser) }
        let fitting = users.filter { $0.user.utf8.count <= SessionRules.longestUser }
        isUserTooLong = fitting.isEmpty
        let named = Self.audiences(claims["aud"])
        session = Session(
            issuer: issuer, signers: [],
            audiences: (rules.audiences + (rules.audience.map { [$0] } ?? [])).filter { audience in
                named.contains { audience.hasSameBytes(as: $0.string) }
            }, users: fitting, expiry: expiry, boundKey: try Self.boundKey(claims["cnf"]))
        // No key can have made it, not even one of a set that is yet to come: there is nothing to fetch.
        guard algorithm.canSign(in: token.signature.count) else { throw AccessRefusal(.badSignature) }
    }

    /// Returns the one of `keys` that made the signature, by its own algorithm; nil if none of them did.
    func signer(among keys: [VerificationKey]) -> VerificationKey? {
        keys.first { key in
            key.algorithm == algorithm && key.isValid(token.signature, of: token.signingInput)
        }
    }

    private static func parse(_ bytes: [UInt8], _ rules: SessionRules) throws(AccessRefusal) -> CompactJWS {
        do throws(JOSEError) {
            return try CompactJWS(parsing: bytes, limits: .init(bytes: rules.mostBytes))
        } catch {
            throw AccessRefusal(error.code == .tokenTooLarge ? .tooLarge : .malformed)
        }
    }

    private static func checkType(_ header: JSONValue) throws(AccessRefusal) {
        guard let member = header["typ"] else { return }
        guard let type = member.string else { throw AccessRefusal(.malformed) }
        guard !SessionRules.foreignTypes.contains(type.mediaSubtype) else { throw AccessRefusal(.wrongType) }
    }

    private static func checkAudience(_ claim: JSONValue?, _ audience: String?) throws(AccessRefusal) {
        guard let audience else { return }
        guard audiences(claim).contains(where: { audience.hasSameBytes(as: $0.string) }) else {
            throw AccessRefusal(.wrongAudience)
        }
    }

    private static func audiences(_ claim: JSONValue?) -> [JSONValue] {
        claim.map { $0.isArray ? $0.elements : [$0] } ?? []
    }

    private static func users(_ claims: JSONValue, _ rules: SessionRules) -> [Session.NamedUser] {
        rules.userClaims.compactMap { name in
            guard let user = claims[name]?.string, !user.isEmpty else { return nil }
            return Session.NamedUser(claim: name, user: user)
        }
    }

    private static func checkTimes(
        _ claims: JSONValue, _ skew: Duration, _ now: UnixTime
    ) throws(AccessRefusal) -> UnixTime {
        guard let expiry = claims["exp"] else { throw AccessRefusal(.noExpiry) }
        guard let expiry = expiry.numericDate else { throw AccessRefusal(.malformed) }
        guard now < expiry.advanced(by: skew) else { throw AccessRefusal(.expired) }
        guard expiry < now.advanced(bySeconds: SessionRules.longestLife) else {
            throw AccessRefusal(.expiryInMilliseconds)
        }
        for name in ["nbf", "iat"] {
            guard let claim = claims[name] else { continue }
            guard let begin = claim.numericDate else { throw AccessRefusal(.malformed) }
            guard begin <= now.advanced(by: skew) else { throw AccessRefusal(.notYetValid) }
        }
        return expiry
    }

    /// Returns the key that `cnf` binds the session to (RFC 7800, section 3.1). It must be bound in the way that is
    /// checked here.
    private static func boundKey(_ confirmation: JSONValue?) throws(AccessRefusal) -> String? {
        guard let confirmation else { return nil }
        guard confirmation.isObject, confirmation.members.count == 1 else { throw AccessRefusal(.unknownBinding) }
        guard let thumbprint = confirmation["jkt"]?.string else { throw AccessRefusal(.unknownBinding) }
        return thumbprint
    }
}
