import AdapterKit
import AdapterTestSupport
import OneSignalAdapter
import Testing

@Suite struct OneSignalVerifierTests {
    private static let key = Result { try SigningKey.generate(.es256) }
    private static let header = #"{"alg":"ES256","typ":"JWT"}"#
    private static let refused = "401 Unauthorized"
    private let user = Subject(user: "u-1001")

    private static let claims: [TokenSample] = [
        .init(#"{"iss":"A","exp":1800000001,"identity":{"external_id":"u-1001"}}"#, "accepted"),
        .init(
            #"{"iat":1,"iss":"A","exp":1800000001,"identity":{"external_id":"u-1001","onesignal_id":"x"}}"#, "accepted"),
        .init(#"{"iss":"A","exp":1800000001,"identity":{"external_id":"u-1001"},"subscriptions":[]}"#, "accepted"),
        .init(#"{"iss":"A","exp":1800000000,"identity":{"external_id":"u-1001"}}"#, refused),
        .init(#"{"iss":"A","exp":"1800000001","identity":{"external_id":"u-1001"}}"#, refused),
        .init(#"{"iss":"A","identity":{"external_id":"u-1001"}}"#, refused),
        .init(#"{"iss":"B","exp":1800000001,"identity":{"external_id":"u-1001"}}"#, refused),
        .init(#"{"exp":1800000001,"identity":{"external_id":"u-1001"}}"#, refused),
        .init(#"{"iss":"A","exp":1800000001,"identity":{"external_id":"u-2002"}}"#, refused),
        .init(#"{"iss":"A","exp":1800000001,"identity":{"external_id":1001}}"#, refused),
        .init(#"{"iss":"A","exp":1800000001,"identity":"u-1001"}"#, refused),
        .init(#"{"iss":"A","exp":1800000001,"sub":"u-1001"}"#, refused),
        .init(#"[]"#, refused), .init(#"{"#, refused),
    ]

    @Test(arguments: claims) func `the verdict on a token's claims is OneSignal's`(_ sample: TokenSample) throws {
        let key = try Self.key.get()
        let token = try HandMade.token(header: Self.header, claims: sample.json, key: key)
        let adapter = try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A"}"#)
        #expect(adapter.verdict(on: token, keys: [key], expecting: user) == sample.verdict)
    }

    @Test func `a token is accepted with ES256 from its own key alone`() throws {
        let adapter = try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A"}"#)
        let key = try Self.key.get()
        let token = try adapter.token(for: user, key: key)
        #expect(
            adapter.verdict(on: token, keys: [try SigningKey.generate(.es256), key], expecting: user) == "accepted")
        #expect(adapter.verdict(on: token, keys: [try SigningKey.generate(.es256)], expecting: user) == Self.refused)
        #expect(adapter.verdict(on: token, keys: [], expecting: user) == Self.refused)
        let other = try SigningKey.generate(.es384)
        let claims = #"{"iss":"A","exp":1800000001,"identity":{"external_id":"u-1001"}}"#
        let wide = try HandMade.token(header: #"{"alg":"ES384","typ":"JWT"}"#, claims: claims, key: other)
        #expect(adapter.verdict(on: wide, keys: [other], expecting: user) == Self.refused)
    }

    private static let garbage = [
        "", ".", "..", "...", "a", "e30.e30.", String(repeating: "A", count: 1 << 20),
        String(repeating: ".", count: 1 << 20),
    ].map { TokenSample($0, "") }

    @Test(arguments: garbage) func `a string that is no token is rejected by OneSignal's verifier`(
        _ sample: TokenSample
    )
        throws
    {
        let text = sample.json
        let adapter = try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A"}"#)
        #expect(adapter.verdict(on: Array(text.utf8), keys: [try Self.key.get()], expecting: user) == Self.refused)
    }
}
