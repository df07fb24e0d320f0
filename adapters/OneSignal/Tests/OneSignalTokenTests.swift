import AdapterKit
import AdapterTestSupport
import Foundation
import OneSignalAdapter
import Testing

@Suite struct OneSignalTokenTests {
    private static let settings = #"{"app_id":"0f0f0f0f-1111-2222-3333-444444444444"}"#
    private let user = Subject(user: "u-1001")

    private func makeAdapter() throws -> any Adapter {
        try AdapterTestSupport.makeAdapter(OneSignalAdapter.self, Self.settings)
    }

    @Test func `the sample of OneSignal's documentation is made byte for byte`() throws {
        let parts = try makeAdapter().parts(for: user, keyID: "2026-11")
        #expect(parts.header == #"{"alg":"ES256","typ":"JWT"}"#)
        #expect(
            parts.claims
                == #"{"iss":"0f0f0f0f-1111-2222-3333-444444444444","exp":1800003600,"identity":{"external_id":"u-1001"}}"#
        )
    }

    @Test func `the subscriptions a look-up found are added to the token`() throws {
        let recipe = try makeAdapter().recipe(for: user)
        var random = FixedGenerator()
        let found = Enrichment(["subscriptions": Array(#"[{"type":"Email","token":"u@example.com"}]"#.utf8)])
        let form = try TokenForm(recipe, keyID: nil, valid: Validity(from: 1_800_000_000, to: 1_800_003_600))
        let claims = try form.claims(for: user, adding: found, random: &random)
        #expect(
            String(decoding: claims, as: UTF8.self)
                == #"{"iss":"0f0f0f0f-1111-2222-3333-444444444444","exp":1800003600,"identity":{"external_id":"u-1001"},"#
                + #""subscriptions":[{"type":"Email","token":"u@example.com"}]}"#)
    }

    @Test func `OneSignal's tokens are signed with ES256 and live an hour`() throws {
        let adapter = try makeAdapter()
        #expect(adapter.algorithm == .es256)
        #expect(adapter.secretEncoding == nil)
        #expect(adapter.lifetime.standard == 3600)
        #expect(!adapter.recipe(for: user).needsKeyID)
    }

    @Test func `OneSignal's signature is the raw 64 bytes, never DER`() throws {
        let token = try makeAdapter().token(for: user, key: SigningKey.generate(.es256))
        #expect(try CompactJWS(parsing: token).signature.count == 64)
    }

    @Test func `OneSignal's adapter needs an App ID`() {
        let error = #expect(throws: SettingsError.self) {
            try AdapterTestSupport.makeAdapter(OneSignalAdapter.self, #"{"app_id":""}"#)
        }
        #expect(error?.key == "app_id")
        #expect(error?.message.contains("Settings > Keys & IDs") == true)
        for settings in ["{}", #"{"app_id":null}"#, #"{"app_id":7}"#] {
            #expect(throws: DecodingError.self) {
                try AdapterTestSupport.makeAdapter(OneSignalAdapter.self, settings)
            }
        }
    }

    @Test(.enabled(if: Joserfc.isInstalled, "\(Joserfc.isMissing)"), .timeLimit(.minutes(5)))
    func `OneSignal's tokens and joserfc's are verified both ways`() async throws {
        let adapter = try makeAdapter()
        let key = try SigningKey.generate(.es256)
        let publicPEM = try #require(try key.verificationKey.publicKeyPEM())
        let seen = try await Joserfc.verify(adapter.token(for: user, key: key), "ES256", .pem(publicPEM))
        #expect(
            seen == "{\"alg\":\"ES256\",\"typ\":\"JWT\"}\n"
                + #"{"iss":"0f0f0f0f-1111-2222-3333-444444444444","exp":1800003600,"identity":{"external_id":"u-1001"}}"#
        )
        let privatePEM = try #require(try key.privateKeyPEM()).withBytes { String(decoding: $0, as: UTF8.self) }
        let token = try #require(
            try await Joserfc.sign(
                header: #"{"alg":"ES256","typ":"JWT"}"#,
                claims:
                    #"{"iss":"0f0f0f0f-1111-2222-3333-444444444444","iat":1,"exp":1800000001,"identity":{"external_id":"u-1001"}}"#,
                "ES256", .pem(privatePEM)))
        #expect(adapter.verdict(on: token, keys: [key], expecting: user) == "accepted")
        #expect(
            adapter.verdict(on: token, keys: [key], expecting: user, at: now.advanced(bySeconds: 1))
                == "401 Unauthorized")
    }
}
