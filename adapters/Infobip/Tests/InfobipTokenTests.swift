import AdapterKit
import AdapterTestSupport
import InfobipAdapter
import Testing

@Suite struct InfobipTokenTests {
    private static let hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
    private let user = Subject(user: "u-1001")

    private static func makeKey() throws -> SigningKey {
        let secret = try SecretEncoding.hex.decode(SecretBytes(copying: hex.utf8))
        return try SigningKey(secret: secret, algorithm: .hs256, keyID: "key-A")
    }

    private func makeSample() throws -> any Adapter {
        try makeAdapter(InfobipAdapter.self, #"{"application_code":"app-code-A"}"#)
    }

    @Test func `the sample of Infobip's documentation is made byte for byte`() throws {
        let parts = try makeSample().parts(for: user, keyID: "key-A")
        #expect(parts.header == #"{"alg":"HS256","typ":"JWT","kid":"key-A"}"#)
        #expect(
            parts.claims
                == #"{"typ":"Bearer","sub":"u-1001","infobip-api-key":"app-code-A","iss":"app-code-A","#
                + #""iat":1800000000,"exp":1800000900,"jti":"00000000-0000-4000-8000-000000000000"}"#)
    }

    @Test func `Infobip's tokens need a key with an id, a hex secret and at least 300 seconds`() throws {
        let adapter = try makeSample()
        #expect(adapter.algorithm == .hs256)
        #expect(adapter.secretEncoding == .hex)
        #expect(adapter.lifetime.standard == 900)
        #expect(adapter.lifetime.allowed.lowerBound == 300)
        let error = #expect(throws: Rejection.self) { try adapter.parts(for: user, keyID: nil) }
        #expect(error?.code == .keyUnavailable)
    }

    @Test func `Infobip's adapter needs an Application Code`() {
        let error = #expect(throws: SettingsError.self) {
            try makeAdapter(InfobipAdapter.self, #"{"application_code":""}"#)
        }
        #expect(error?.key == "application_code")
        #expect(error?.message.contains("not a REST API key") == true)
        for settings in ["{}", #"{"application_code":null}"#, #"{"application_code":{}}"#] {
            #expect(throws: DecodingError.self) { try makeAdapter(InfobipAdapter.self, settings) }
        }
    }

    @Test func `a user with named ids gets no token of Infobip's`() throws {
        let ids = Subject(identifiers: [.init(name: "registered", value: "r")])
        let error = #expect(throws: Rejection.self) { try makeSample().parts(for: ids, keyID: "key-A") }
        #expect(error?.code == .mintFailed)
    }

    @Test(.enabled(if: Joserfc.isInstalled, "\(Joserfc.isMissing)"), .timeLimit(.minutes(5)))
    func `Infobip's tokens and those of joserfc, which decodes the hex itself, are verified both ways`() async throws {
        let adapter = try makeSample()
        let key = try Self.makeKey()
        let ours = try adapter.token(for: user, key: key)
        let parts = try adapter.parts(for: user, keyID: "key-A")
        #expect(try await Joserfc.verify(ours, "HS256", .hex(Self.hex)) == "\(parts.header)\n\(parts.claims)")
        #expect(try await Joserfc.verify(ours, "HS256", .text(Self.hex)) == nil, "the secret is the text's bytes")
        let claims = parts.claims.split(separator: "1800000900").joined(separator: "1800000001")
        let theirs = try #require(try await Joserfc.sign(header: parts.header, claims: claims, "HS256", .hex(Self.hex)))
        #expect(adapter.verdict(on: theirs, keys: [key], expecting: user) == "accepted")
        #expect(
            adapter.verdict(on: theirs, keys: [key], expecting: user, at: now.advanced(bySeconds: 1))
                == "11 JWT_TOKEN_EXPIRED")
        let text = try #require(try await Joserfc.sign(header: parts.header, claims: claims, "HS256", .text(Self.hex)))
        #expect(adapter.verdict(on: text, keys: [key], expecting: user) == "401 UNAUTHORIZED")
    }
}
