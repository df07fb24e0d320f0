import Access
@_spi(Signing) import JOSE
import Testing

/// Changes to a JSON object: new values as JSON text; nil removes a member.
typealias Changes = [String: String?]

/// Tokens the way a test wants to spoil them.
enum SampleToken {
    /// A token of `members` and `header`, signed by `key`.
    static func make(
        _ key: SigningKey, claims: [String: String], header: [String: String]
    ) throws -> [UInt8] {
        let input = SigningInput(encodedHeader: Array(Base64.url.encode(json(header)).utf8), payload: json(claims))
        return input.token(signature: try Signer(key).sign(input.bytes))
    }

    /// A token of these very texts.
    static func make(_ key: SigningKey, claims: String, header: String) throws -> [UInt8] {
        let input = SigningInput(
            encodedHeader: Array(Base64.url.encode(Array(header.utf8)).utf8), payload: Array(claims.utf8))
        return input.token(signature: try Signer(key).sign(input.bytes))
    }

    private static func json(_ members: [String: String]) -> [UInt8] {
        let sorted = members.sorted { $0.key < $1.key }
        return Array(("{" + sorted.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}").utf8)
    }
}

extension [String: String] {
    func changed(by changes: Changes) -> [String: String] {
        var members = self
        for (name, value) in changes { members[name] = value }
        return members
    }
}

/// The customer's issuer: its keys, its sessions, and the moment at which they are good.
enum SampleIssuer {
    static let now = UnixTime(seconds: 1_700_000_000)
    static let rules = SessionRules(issuer: "https://id.example", audience: "shop")
    static let claims = [
        "iss": #""https://id.example""#, "aud": #""shop""#, "sub": #""u-42""#, "exp": "1700003600", "iat": "1699999990",
    ]

    private static let rsa = Result { try SigningKey.generate(.rs256).privateKeyPEM() }

    /// A key for `algorithm`; the RSA algorithms share one pair.
    static func key(_ algorithm: Algorithm, _ keyID: String? = "a") throws -> SigningKey {
        guard algorithm.keyType == .rsa else { return try SigningKey.generate(algorithm, keyID: keyID) }
        return try SigningKey(pem: try #require(try rsa.get()), algorithm: algorithm, keyID: keyID)
    }

    static func session(_ key: SigningKey, _ claims: Changes = [:], header: Changes = [:]) throws -> [UInt8] {
        var members = ["alg": "\"\(key.algorithm.rawValue)\"", "typ": #""JWT""#]
        if let keyID = key.keyID { members["kid"] = "\"\(keyID)\"" }
        return try SampleToken.make(
            key, claims: Self.claims.changed(by: claims), header: members.changed(by: header))
    }

    /// The issuer's JWK Set, as it publishes it.
    static func document(_ keys: [SigningKey]) throws -> [UInt8] {
        try JWK.setJSON(of: keys.map(\.verificationKey))
    }

    /// Knows sessions of `keys`, which are published as a JWK Set.
    static func verifier(_ keys: [SigningKey], rules: SessionRules = rules) throws -> SessionVerifier {
        let set = try KeySet(parsing: try document(keys), algorithms: rules.algorithms)
        return SessionVerifier(rules: rules, keys: StaticKeys(set))
    }
}

/// Expects `body` to be refused for `reason`.
func expectRefusal(
    _ reason: AccessRefusal.Reason, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    by body: () async throws -> some Any
) async {
    let error = await #expect(throws: AccessRefusal.self, comment, sourceLocation: sourceLocation) {
        _ = try await body()
    }
    #expect(error?.reason == reason, comment, sourceLocation: sourceLocation)
}
