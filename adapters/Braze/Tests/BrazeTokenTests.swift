import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazeTokenTests {
    private static let key = Result { try SigningKey.generate(.rs256, keyID: "2026-11") }
    private let user = Subject(user: "u-1001")

    @Test func `the sample of Braze's documentation is made byte for byte`() throws {
        let parts = try makeAdapter(BrazeAdapter.self, "{}").parts(for: user, keyID: "2026-11")
        #expect(parts.header == #"{"alg":"RS256","typ":"JWT"}"#)
        #expect(parts.claims == #"{"sub":"u-1001","exp":1800043200}"#)
    }

    @Test func `audience and issuer are added to Braze's token only where a setting asks`() throws {
        let strict = try makeAdapter(BrazeAdapter.self, #"{"audience":true,"sdk_api_key":"K"}"#)
        #expect(try strict.parts(for: user).claims == #"{"sub":"u-1001","exp":1800043200,"aud":"braze","iss":"K"}"#)
        let off = try makeAdapter(BrazeAdapter.self, #"{"audience":false,"sdk_api_key":null}"#)
        #expect(try off.parts(for: user).claims == #"{"sub":"u-1001","exp":1800043200}"#)
    }

    @Test func `Braze's token names the id byte for byte`() throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        #expect(
            try adapter.parts(for: Subject(user: "0012/\"e\u{301}")).claims
                == "{\"sub\":\"0012/\\\"e\u{301}\",\"exp\":1800043200}")
    }

    @Test func `Braze's tokens are signed with RS256 and live 12 hours`() throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        #expect(adapter.algorithm == .rs256)
        #expect(adapter.secretEncoding == nil)
        #expect(adapter.lifetime.standard == 43_200)
        #expect(adapter.name == "braze")
        #expect(!adapter.recipe(for: user).needsKeyID)
    }

    @Test(arguments: [
        #"{"audience":"yes"}"#, #"{"audience":1}"#, #"{"sdk_api_key":7}"#, #"{"enforcement":true}"#, "[]",
    ])
    func `settings of another type are refused by Braze's adapter`(_ settings: String) {
        #expect(throws: DecodingError.self) { try makeAdapter(BrazeAdapter.self, settings) }
    }

    @Test(arguments: ["", "Optional", "disabled"]) func `an unknown enforcement is refused by Braze's adapter`(
        _ state: String
    ) {
        let error = #expect(throws: SettingsError.self) {
            try makeAdapter(BrazeAdapter.self, #"{"enforcement":"\#(state)"}"#)
        }
        #expect(error == SettingsError("enforcement", "is neither required nor optional"))
    }

    @Test func `the enforcement of Braze changes no token`() throws {
        let optional = try makeAdapter(BrazeAdapter.self, #"{"enforcement":"optional"}"#)
        #expect(try optional.parts(for: user).claims == #"{"sub":"u-1001","exp":1800043200}"#)
    }

    @Test func `the user of a batch job is understood`() throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        let id = try JSONDocument(parsing: Array(#""u-1001""#.utf8)).root
        #expect(try adapter.subject(reissuing: id) == user)
    }

    @Test func `the user of a token's claims is found`() throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        func subject(_ claims: String) throws -> Subject? {
            adapter.subject(named: try JSONDocument(parsing: Array(claims.utf8)).root)
        }
        #expect(try subject(#"{"sub":"u-1001"}"#) == user)
        #expect(try subject(#"{"sub":1}"#) == nil)
        #expect(try subject("[]") == nil)
    }

    @Test(.enabled(if: Joserfc.isInstalled, "\(Joserfc.isMissing)"), .timeLimit(.minutes(5)))
    func `Braze's tokens and joserfc's are verified both ways`() async throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        let key = try Self.key.get()
        let publicPEM = try #require(try key.verificationKey.publicKeyPEM())
        let seen = try await Joserfc.verify(adapter.token(for: user, key: key), "RS256", .pem(publicPEM))
        #expect(seen == "{\"alg\":\"RS256\",\"typ\":\"JWT\"}\n{\"sub\":\"u-1001\",\"exp\":1800043200}")
        let privatePEM = try #require(try key.privateKeyPEM()).withBytes { String(decoding: $0, as: UTF8.self) }
        let token = try #require(
            try await Joserfc.sign(
                header: #"{"alg":"RS256","typ":"JWT","kid":"theirs"}"#,
                claims: #"{ "exp": 1800000001, "sub": "u-1001", "extra": [1] }"#,
                "RS256", .pem(privatePEM)))
        let anonymousKey = try SigningKey(pem: #require(try key.privateKeyPEM()), algorithm: .rs256)
        #expect(adapter.verdict(on: token, keys: [anonymousKey], expecting: user) == "accepted")
        #expect(
            adapter.verdict(on: token, keys: [anonymousKey], expecting: user, at: now.advanced(bySeconds: 1))
                == "22 EXPIRED")
    }
}
