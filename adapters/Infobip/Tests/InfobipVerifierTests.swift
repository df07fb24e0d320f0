import AdapterKit
import AdapterTestSupport
import InfobipAdapter
import Testing

@Suite struct InfobipVerifierTests {
    private static let header = #"{"alg":"HS256","typ":"JWT","kid":"key-A"}"#
    private static let good =
        #"{"typ":"Bearer","sub":"u-1001","infobip-api-key":"A","iss":"A","iat":1800000000,"exp":1800000001,"jti":"j"}"#
    private let user = Subject(user: "u-1001")

    private func verdict(header: String = header, claims: String = good) throws -> String {
        let key = try SigningKey(text: "secret", .hs256, keyID: "key-A")
        let token = try HandMade.token(header: header, claims: claims, key: key)
        return try makeAdapter(InfobipAdapter.self, #"{"application_code":"A"}"#).verdict(
            on: token, keys: [key], expecting: user)
    }

    private static func claims(_ member: String, _ value: String?) throws -> String {
        var json = JSONWriter()
        json.beginObject()
        for (name, held) in try JSONDocument(parsing: Array(good.utf8)).root.members
        where name != member || value != nil {
            json.name(name)
            json.raw(name == member ? Array((value ?? "").utf8) : held.json)
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// A claim, an equals sign and its value; nothing after the sign leaves the claim out.
    private static let changes: [TokenSample] = [
        .init("exp=1800000001", "accepted"), .init("exp=1800000000", "11 JWT_TOKEN_EXPIRED"),
        .init("exp=0", "11 JWT_TOKEN_EXPIRED"),
        .init("exp=1800000001.5", "accepted"), .init(#"exp="soon""#, "11 JWT_TOKEN_EXPIRED"),
        .init("exp=null", "11 JWT_TOKEN_EXPIRED"),
        .init("exp=", "16 JWT_TOKEN_STRUCTURE_INVALID"), .init("typ=", "16 JWT_TOKEN_STRUCTURE_INVALID"),
        .init("sub=", "16 JWT_TOKEN_STRUCTURE_INVALID"), .init("infobip-api-key=", "16 JWT_TOKEN_STRUCTURE_INVALID"),
        .init("iat=", "16 JWT_TOKEN_STRUCTURE_INVALID"), .init("jti=", "16 JWT_TOKEN_STRUCTURE_INVALID"),
        .init("iss=", "accepted"),
        .init(#"typ="bearer""#, "401 UNAUTHORIZED"), .init(#"infobip-api-key="B""#, "401 UNAUTHORIZED"),
        .init(#"sub="u-2002""#, "401 UNAUTHORIZED"), .init("sub=1001", "401 UNAUTHORIZED"),
        .init(#"sub={"id":"u-1001"}"#, "401 UNAUTHORIZED"),
    ]

    @Test(arguments: changes) func `the verdict on a token's claims is the one of Infobip's device and server`(
        _ change: TokenSample
    ) throws {
        let parts = change.json.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(try #require(parts.first)),
            value = parts.dropFirst().first.flatMap { $0.isEmpty ? nil : String($0) }
        #expect(try verdict(claims: Self.claims(name, value)) == change.verdict)
    }

    private static let headers: [TokenSample] = [
        .init(#"{"alg":"HS256","typ":"JWT","kid":"key-A"}"#, "accepted"),
        .init(#"{"alg":"HS256","typ":"JWT","kid":"key-B"}"#, "401 UNAUTHORIZED"),
        .init(#"{"alg":"HS256","typ":"JWT","kid":7}"#, "401 UNAUTHORIZED"),
        .init(#"{"alg":"HS512","typ":"JWT","kid":"key-A"}"#, "401 UNAUTHORIZED"),
        .init(#"{"alg":"HS256","typ":"JWT"}"#, "14 JWT_TOKEN_STRUCTURE_INVALID"),
        .init(#"{"alg":"HS256","kid":"key-A"}"#, "14 JWT_TOKEN_STRUCTURE_INVALID"),
        .init(#"{"typ":"JWT","kid":"key-A"}"#, "14 JWT_TOKEN_STRUCTURE_INVALID"),
        .init("[]", "13 JWT_TOKEN_STRUCTURE_INVALID"), .init("x", "13 JWT_TOKEN_STRUCTURE_INVALID"),
    ]

    @Test(arguments: headers) func `the verdict on a token's header is the one of Infobip's device and server`(
        _ sample: TokenSample
    ) throws {
        #expect(try verdict(header: sample.json) == sample.verdict)
    }

    @Test func `the first of several faults is found, in the device's order`() throws {
        #expect(try verdict(header: "[]", claims: "[]") == "13 JWT_TOKEN_STRUCTURE_INVALID")
        #expect(try verdict(header: "{}", claims: "[]") == "14 JWT_TOKEN_STRUCTURE_INVALID")
        #expect(try verdict(claims: "[]") == "15 JWT_TOKEN_STRUCTURE_INVALID")
        #expect(try verdict(claims: #"{"exp":1}"#) == "16 JWT_TOKEN_STRUCTURE_INVALID")
    }

    @Test func `the key is chosen by its id`() throws {
        let adapter = try makeAdapter(InfobipAdapter.self, #"{"application_code":"A"}"#)
        let keyA = try SigningKey(text: "one", .hs256, keyID: "key-A"),
            keyB = try SigningKey(text: "two", .hs256, keyID: "key-B")
        let token = try HandMade.token(header: Self.header, claims: Self.good, key: keyA)
        #expect(adapter.verdict(on: token, keys: [keyB, keyA], expecting: user) == "accepted")
        #expect(adapter.verdict(on: token, keys: [keyB], expecting: user) == "401 UNAUTHORIZED")
        let renamed = try SigningKey(text: "one", .hs256, keyID: "key-B")
        #expect(adapter.verdict(on: token, keys: [renamed], expecting: user) == "401 UNAUTHORIZED")
        #expect(adapter.verdict(on: token, keys: [], expecting: user) == "401 UNAUTHORIZED")
    }

    private static let garbage: [TokenSample] = [
        .init("", "10"), .init(" \n", "10"), .init("a", "12"), .init("a.b", "12"), .init("a.b.c.d", "12"),
        .init("..", "13"),
        .init("e30.e30.", "14"), .init(String(repeating: ".", count: 1 << 20), "12"),
        .init(String(repeating: "A", count: 1 << 20), "12"),
    ]

    @Test(arguments: garbage) func `a string that is no token is rejected with Infobip's code`(_ sample: TokenSample)
        throws
    {
        let adapter = try makeAdapter(InfobipAdapter.self, #"{"application_code":"A"}"#)
        let key = try SigningKey(text: "secret", .hs256, keyID: "key-A")
        #expect(
            adapter.verdict(on: Array(sample.json.utf8), keys: [key], expecting: user)
                == "\(sample.verdict) JWT_TOKEN_STRUCTURE_INVALID")
    }
}
