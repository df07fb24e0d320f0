import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazeVerifierTests {
    private static let key = Result { try SigningKey.generate(.rs256) }
    private static let otherKey = Result { try SigningKey.generate(.rs256) }
    private static let header = #"{"alg":"RS256","typ":"JWT"}"#
    private let user = Subject(user: "u-1001")

    private func verdict(
        header: String = header, claims: String, settings: String = "{}", at time: UnixTime = now
    ) throws -> String {
        let key = try Self.key.get()
        let token = try HandMade.token(header: header, claims: claims, key: key)
        return try makeAdapter(BrazeAdapter.self, settings).verdict(on: token, keys: [key], expecting: user, at: time)
    }

    private static let claims: [TokenSample] = [
        .init(#"{"sub":"u-1001","exp":1800000001}"#, "accepted"),
        .init(#"{"sub":"u-1001","exp":1800000000}"#, "22 EXPIRED"),
        .init(#"{"sub":"u-1001","exp":1799999999}"#, "22 EXPIRED"),
        .init(#"{"sub":"u-1001","exp":0}"#, "22 EXPIRED"),
        .init(#"{"sub":"u-1001","exp":-1}"#, "22 EXPIRED"),
        .init(#"{"sub":"u-1001"}"#, "10 EXPIRATION_REQUIRED"),
        .init(#"{}"#, "10 EXPIRATION_REQUIRED"),
        .init(#"{"sub":"u-1001","exp":"1800000001"}"#, "23 INVALID_PAYLOAD"),
        .init(#"{"sub":"u-1001","exp":null}"#, "23 INVALID_PAYLOAD"),
        .init(#"{"sub":"u-1001","exp":1800000001,"aud":"braze"}"#, "accepted"),
        .init(#"{"sub":"u-1001","exp":1800000001,"aud":"Braze"}"#, "23 INVALID_PAYLOAD"),
        .init(#"{"sub":"u-1001","exp":1800000001,"aud":["braze"]}"#, "23 INVALID_PAYLOAD"),
        .init(#"{"sub":"u-1001","exp":1800000001,"iss":"K"}"#, "23 INVALID_PAYLOAD"),
        .init(#"{"sub":"u-1001","exp":1800000001,"iat":99999999999,"jti":"x"}"#, "accepted"),
        .init(#"{"sub":"U-1001","exp":1800000001}"#, "21 SUBJECT_MISMATCH"),
        .init(#"{"sub":1001,"exp":1800000001}"#, "21 SUBJECT_MISMATCH"),
        .init(#"{"exp":1800000001}"#, "21 SUBJECT_MISMATCH"),
        .init(#"{"sub":"u-2002","exp":1800000000}"#, "22 EXPIRED"),
        .init(#"[]"#, "23 INVALID_PAYLOAD"),
        .init(#"not json"#, "23 INVALID_PAYLOAD"),
        .init(#"{"sub":"u-1001","sub":"u-1001","exp":1800000001}"#, "23 INVALID_PAYLOAD"),
    ]

    @Test(arguments: claims) func `the verdict on a token's claims is Braze's`(_ sample: TokenSample) throws {
        #expect(try verdict(claims: sample.json) == sample.verdict)
    }

    @Test func `the issuer is checked against the app's SDK API key`() throws {
        let settings = #"{"sdk_api_key":"K"}"#
        #expect(try verdict(claims: #"{"sub":"u-1001","exp":1800000001,"iss":"K"}"#, settings: settings) == "accepted")
        #expect(
            try verdict(claims: #"{"sub":"u-1001","exp":1800000001,"iss":"L"}"#, settings: settings)
                == "23 INVALID_PAYLOAD")
        #expect(try verdict(claims: #"{"sub":"u-1001","exp":1800000001}"#, settings: settings) == "accepted")
    }

    private static let headers: [TokenSample] = [
        .init(#"{"typ":"JWT","alg":"RS256"}"#, "accepted"),
        .init(#"{"alg":"RS256","typ":"JWT","kid":"any"}"#, "accepted"),
        .init(#"{"alg":"RS256"}"#, "20 DECODING_ERROR"),
        .init(#"{"alg":"RS256","typ":7}"#, "20 DECODING_ERROR"),
        .init(#"{"typ":"JWT"}"#, "24 INCORRECT_ALGORITHM"),
        .init(#"{"alg":"RS384","typ":"JWT"}"#, "24 INCORRECT_ALGORITHM"),
        .init(#"{"alg":"rs256","typ":"JWT"}"#, "24 INCORRECT_ALGORITHM"),
        .init(#"{"alg":"none","typ":"JWT"}"#, "24 INCORRECT_ALGORITHM"),
        .init(#"{"alg":"HS256","typ":"JWT"}"#, "24 INCORRECT_ALGORITHM"),
        .init(#"{}"#, "20 DECODING_ERROR"), .init(#"[]"#, "20 DECODING_ERROR"), .init(#"x"#, "20 DECODING_ERROR"),
    ]

    @Test(arguments: headers) func `the verdict on a token's header is Braze's`(_ sample: TokenSample) throws {
        #expect(try verdict(header: sample.json, claims: #"{"sub":"u-1001","exp":1800000001}"#) == sample.verdict)
    }

    @Test func `a token of any of the app's keys is accepted, and of no other`() throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        let (key, other) = (try Self.key.get(), try Self.otherKey.get())
        let token = try adapter.token(for: user, key: key)
        #expect(adapter.verdict(on: token, keys: [other, key], expecting: user) == "accepted")
        #expect(adapter.verdict(on: token, keys: [other], expecting: user) == "27 NO_MATCHING_PUBLIC_KEYS")
        #expect(adapter.verdict(on: token, keys: [], expecting: user) == "27 NO_MATCHING_PUBLIC_KEYS")
    }

    @Test func `two spellings of one letter are different users`() throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        let key = try Self.key.get()
        let token = try adapter.token(for: Subject(user: "\u{E9}"), key: key)
        #expect(adapter.verdict(on: token, keys: [key], expecting: Subject(user: "e\u{301}")) == "21 SUBJECT_MISMATCH")
        #expect(adapter.verdict(on: token, keys: [key], expecting: Subject(user: "\u{E9}")) == "accepted")
    }

    @Test func `an issuer that cannot be compared and an empty SDK API key are refused`() throws {
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        let key = try Self.key.get()
        for issuer in ["[]", "null", "7", "\"K\""] {
            let claims = #"{"sub":"u","exp":1800000001,"iss":\#(issuer)}"#
            let token = try HandMade.token(header: #"{"alg":"RS256","typ":"JWT"}"#, claims: claims, key: key)
            #expect(adapter.verdict(on: token, keys: [key], expecting: Subject(user: "u")) == "23 INVALID_PAYLOAD")
        }
        let error = #expect(throws: SettingsError.self) { try makeAdapter(BrazeAdapter.self, #"{"sdk_api_key":""}"#) }
        #expect(error?.key == "sdk_api_key")
    }

    private static let garbage = [
        "", ".", "..", "...", "a", "e30", "e30.e30", "e30.e30.", String(repeating: "A", count: 1 << 20),
        String(repeating: ".", count: 1 << 20),
    ].map { TokenSample($0, "") }

    @Test(arguments: garbage) func `a string that is no token is rejected with Braze's code`(_ sample: TokenSample)
        throws
    {
        let text = sample.json
        let expected = text.isEmpty ? "26 MISSING_TOKEN" : "20 DECODING_ERROR"
        let adapter = try makeAdapter(BrazeAdapter.self, "{}")
        #expect(adapter.verdict(on: Array(text.utf8), keys: [try Self.key.get()], expecting: user) == expected)
    }
}
