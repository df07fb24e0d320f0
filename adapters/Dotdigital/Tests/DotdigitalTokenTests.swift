import AdapterKit
import AdapterTestSupport
import DotdigitalAdapter
import Testing

@Suite struct DotdigitalTokenTests {
    private static let settings =
        #"{"issuer":"https://api.comapi.com/defaultauth","audience":"https://api.comapi.com"}"#
    private let user = Subject(user: "u-1001", challenge: "13687106-f26d-4afe-a25a-60d58b38c568")

    @Test func `the sample of Dotdigital's documentation is made byte for byte`() throws {
        let parts = try makeAdapter(DotdigitalAdapter.self, Self.settings).parts(for: user, keyID: "2026-11")
        #expect(parts.header == #"{"alg":"HS256","typ":"JWT"}"#)
        #expect(
            parts.claims
                == #"{"iss":"https://api.comapi.com/defaultauth","aud":"https://api.comapi.com","sub":"u-1001","#
                + #""nonce":"13687106-f26d-4afe-a25a-60d58b38c568","iat":1800000000,"exp":1800000900}"#)
    }

    @Test func `the user is in the claim that the push profile's ID claim names`() throws {
        let adapter = try makeAdapter(DotdigitalAdapter.self, #"{"issuer":"i","audience":"a","id_claim":"profileId"}"#)
        #expect(try adapter.parts(for: user).claims.hasPrefix(#"{"iss":"i","aud":"a","profileId":"u-1001","nonce":"#))
        #expect(try !adapter.parts(for: user).claims.contains("\"sub\""))
    }

    @Test func `a token without a challenge is not made`() throws {
        let adapter = try makeAdapter(DotdigitalAdapter.self, Self.settings)
        let error = #expect(throws: Rejection.self) { try adapter.parts(for: Subject(user: "u-1001")) }
        #expect(error?.code == .mintFailed)
        let id = try JSONDocument(parsing: Array(#""u-1001""#.utf8)).root
        let reissue = #expect(throws: Rejection.self) { try adapter.subject(reissuing: id) }
        #expect(reissue?.code == .missingChallenge)
    }

    @Test func `Dotdigital's tokens are signed with a UTF-8 secret and live 900 seconds`() throws {
        let adapter = try makeAdapter(DotdigitalAdapter.self, Self.settings)
        #expect(adapter.algorithm == .hs256)
        #expect(adapter.secretEncoding == .utf8)
        #expect(adapter.lifetime.standard == 900)
        #expect(!adapter.recipe(for: user).needsKeyID)
    }

    @Test(arguments: [
        (#"{"issuer":"","audience":"a"}"#, "issuer"), (#"{"issuer":"i","audience":""}"#, "audience"),
        (#"{"issuer":"i","audience":"a","id_claim":""}"#, "id_claim"),
        (#"{"issuer":"i","audience":"a","id_claim":"exp"}"#, "id_claim"),
        (#"{"issuer":"i","audience":"a","id_claim":"nonce"}"#, "id_claim"),
    ])
    func `settings without a meaning are refused by Dotdigital's adapter`(_ settings: String, _ key: String) {
        let error = #expect(throws: SettingsError.self) { try makeAdapter(DotdigitalAdapter.self, settings) }
        #expect(error?.key == key)
        #expect(error?.message.isEmpty == false)
    }

    @Test(arguments: ["{}", #"{"issuer":"i"}"#, #"{"audience":"a"}"#, #"{"issuer":1,"audience":"a"}"#])
    func `settings of another shape are refused by Dotdigital's adapter`(_ settings: String) {
        #expect(throws: DecodingError.self) { try makeAdapter(DotdigitalAdapter.self, settings) }
    }

    @Test(.enabled(if: Joserfc.isInstalled, "\(Joserfc.isMissing)"), .timeLimit(.minutes(5)))
    func `Dotdigital's tokens and joserfc's are verified both ways`() async throws {
        let adapter = try makeAdapter(DotdigitalAdapter.self, Self.settings)
        // Looks like hex and like base64; the vendor takes the text's own bytes.
        let secret = "deadbeefdeadbeefdeadbeefdeadbeef"
        let key = try SigningKey(text: secret, .hs256)
        let parts = try adapter.parts(for: user)
        let ours = try adapter.token(for: user, key: key)
        #expect(try await Joserfc.verify(ours, "HS256", .text(secret)) == "\(parts.header)\n\(parts.claims)")
        #expect(try await Joserfc.verify(ours, "HS256", .hex(secret)) == nil)
        let claims = parts.claims.split(separator: "1800000900").joined(separator: "1800000001")
        let theirs = try #require(try await Joserfc.sign(header: parts.header, claims: claims, "HS256", .text(secret)))
        #expect(adapter.verdict(on: theirs, keys: [key], expecting: user) == "accepted")
        #expect(
            adapter.verdict(on: theirs, keys: [key], expecting: user, at: now.advanced(bySeconds: 1))
                == "403 Invalid JWT")
    }
}
