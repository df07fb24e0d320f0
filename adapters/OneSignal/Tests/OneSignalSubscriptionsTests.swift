import AdapterKit
import AdapterTestSupport
import OneSignalAdapter
import Testing

@Suite struct OneSignalSubscriptionsTests {
    private static let adapter = Result { try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A"}"#) }
    private let user = Subject(user: "u-1001")

    /// A user's `subscriptions` and the claim they make; empty where there is none.
    private static let claims: [TokenSample] = [
        .init(#"[{"type":"Email","token":"u@example.com"}]"#, #"[{"type":"Email","token":"u@example.com"}]"#),
        .init(
            #"[{"id":"1","type":"SMS","token":"+15550100","enabled":true,"app_id":"A"},{"token":"a@b","type":"Email"}]"#,
            #"[{"type":"SMS","token":"+15550100"},{"type":"Email","token":"a@b"}]"#),
        .init(
            #"[{"type":"Email","token":"a@b","enabled":false,"notification_types":-2}]"#,
            #"[{"type":"Email","token":"a@b"}]"#),
        .init(
            #"[{"type":"SMS","token":"1"},{"type":"Email","token":"1"},{"type":"SMS","token":"1","enabled":true}]"#,
            #"[{"type":"SMS","token":"1"},{"type":"Email","token":"1"}]"#),
        .init(
            #"[{"type":"Email","token":"\u0022],\\\"x\"\n\u00e9"}]"#,
            "[{\"type\":\"Email\",\"token\":\"\\\"],\\\\\\\"x\\\"\\n\u{E9}\"}]"),
        .init(#"[{"type":"iOSPush","token":"0f"},{"type":"AndroidPush","token":"f0"}]"#, ""),
        .init(#"[{"type":"email","token":"a@b"},{"type":"sms","token":"1"},{"type":null,"token":"1"}]"#, ""),
        .init(#"[{"type":"Email","token":""},{"type":"Email","token":null},{"type":"Email"}]"#, ""),
        .init(#"[{"type":"SMS","token":15550100},{"type":["SMS"],"token":"1"},7,null,[],"SMS",{}]"#, ""),
        .init("[]", ""), .init("null", ""),
    ]

    @Test(arguments: claims) func `Email and SMS subscriptions are mapped to the claim`(_ sample: TokenSample) throws {
        let body = #"{"identity":{"external_id":"u-1001"},"properties":{},"subscriptions":\#(sample.json)}"#
        let verdicts = try Self.adapter.get().verdicts(
            from: LookupResponse(status: 200, body: Array(body.utf8)), for: [user])
        let expected = sample.verdict.isEmpty ? [:] : ["subscriptions": Array(sample.verdict.utf8)]
        #expect(verdicts == [.exists(Enrichment(expected))])
    }

    @Test func `the subscriptions of the whole user go into a token that OneSignal accepts`() throws {
        let adapter = try Self.adapter.get()
        let key = try SigningKey.generate(.es256)
        var stub = try #require(adapter.stub(StubSetting(authorization: nil, keys: [key.verificationKey])))
        let bearer = "Bearer " + String(decoding: try adapter.token(for: user, key: key), as: UTF8.self)
        let verdicts = adapter.verdicts(of: &stub, on: [user], mode: .enrich, authorization: bearer, at: now)
        guard case .exists(let enrichment) = verdicts.first else {
            Issue.record("not found: \(verdicts)")
            return
        }
        var random = FixedGenerator()
        let life = Validity(from: 1_800_000_000, to: 1_800_003_600)
        let form = try TokenForm(adapter.recipe(for: user), keyID: nil, valid: life)
        let claims = String(
            decoding: try form.claims(for: user, adding: enrichment, random: &random), as: UTF8.self)
        #expect(
            claims
                == #"{"iss":"A","exp":1800003600,"identity":{"external_id":"u-1001"},"#
                + #""subscriptions":[{"type":"Email","token":"u-1001@example.com"},{"type":"SMS","token":"+15550100"}]}"#
        )
        let token = try HandMade.token(header: #"{"alg":"ES256","typ":"JWT"}"#, claims: claims, key: key)
        #expect(adapter.verdict(on: token, keys: [key], expecting: user) == "accepted")
    }

    @Test func `a look-up of the identity alone adds nothing`() throws {
        let adapter = try Self.adapter.get()
        let key = try SigningKey.generate(.es256)
        var stub = try #require(adapter.stub(StubSetting(authorization: nil, keys: [key.verificationKey])))
        let bearer = "Bearer " + String(decoding: try adapter.token(for: user, key: key), as: UTF8.self)
        #expect(
            adapter.verdicts(of: &stub, on: [user], mode: .verify, authorization: bearer, at: now)
                == [.exists(Enrichment())])
    }
}
