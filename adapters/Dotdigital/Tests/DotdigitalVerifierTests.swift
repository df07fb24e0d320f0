import AdapterKit
import AdapterTestSupport
import DotdigitalAdapter
import Testing

@Suite struct DotdigitalVerifierTests {
    private static let refused = "403 Invalid JWT"
    private static let header = #"{"alg":"HS256","typ":"JWT"}"#
    private let user = Subject(user: "u", challenge: "n")

    private func verdict(header: String = header, claims: String, settings: String = #"{"issuer":"i","audience":"a"}"#)
        throws -> String
    {
        let key = try SigningKey(text: "secret", .hs256)
        let token = try HandMade.token(header: header, claims: claims, key: key)
        return try makeAdapter(DotdigitalAdapter.self, settings).verdict(on: token, keys: [key], expecting: user)
    }

    private static let claims: [TokenSample] = [
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1800000001}"#, "accepted"),
        .init(#"{"exp":1800000001,"iat":0,"nonce":"n","sub":"u","aud":"a","iss":"i","extra":{}}"#, "accepted"),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":99999999999}"#, "accepted"),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1800000000}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":100000000000}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1800000900000}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000.5,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1800000900.0}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1.8e9}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":"1800000000","exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","nonce":"m","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"u","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"v","nonce":"n","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":"","nonce":"n","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"a","sub":7,"nonce":"n","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"j","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":"b","sub":"u","nonce":"n","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"{"iss":"i","aud":["a"],"sub":"u","nonce":"n","iat":1800000000,"exp":1800000900}"#, refused),
        .init(#"[]"#, refused), .init(#"x"#, refused),
    ]

    @Test(arguments: claims) func `the verdict on a token's claims is Dotdigital's`(_ sample: TokenSample) throws {
        #expect(try verdict(claims: sample.json) == sample.verdict)
    }

    @Test func `the user is looked for in the claim that the push profile's ID claim names`() throws {
        let settings = #"{"issuer":"i","audience":"a","id_claim":"profileId"}"#
        let there = #"{"iss":"i","aud":"a","profileId":"u","nonce":"n","iat":1800000000,"exp":1800000900}"#
        let elsewhere = #"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1800000900}"#
        #expect(try verdict(claims: there, settings: settings) == "accepted")
        #expect(try verdict(claims: elsewhere, settings: settings) == Self.refused)
        #expect(try verdict(claims: there) == Self.refused)
    }

    @Test func `a token is accepted with HS256 and the current secret alone`() throws {
        let adapter = try makeAdapter(DotdigitalAdapter.self, #"{"issuer":"i","audience":"a"}"#)
        let key = try SigningKey(text: "secret", .hs256), other = try SigningKey(text: "other", .hs256)
        let token = try adapter.token(for: user, key: key)
        #expect(adapter.verdict(on: token, keys: [key], expecting: user) == "accepted")
        #expect(adapter.verdict(on: token, keys: [other], expecting: user) == Self.refused)
        #expect(adapter.verdict(on: token, keys: [], expecting: user) == Self.refused)
        let wide = try SigningKey(text: "secret", .hs512)
        let claims = #"{"iss":"i","aud":"a","sub":"u","nonce":"n","iat":1800000000,"exp":1800000900}"#
        let token512 = try HandMade.token(header: #"{"alg":"HS512","typ":"JWT"}"#, claims: claims, key: wide)
        #expect(adapter.verdict(on: token512, keys: [wide, key], expecting: user) == Self.refused)
    }

    @Test func `a token is rejected for another nonce and for a user without one`() throws {
        let adapter = try makeAdapter(DotdigitalAdapter.self, #"{"issuer":"i","audience":"a"}"#)
        let key = try SigningKey(text: "secret", .hs256)
        let token = try adapter.token(for: user, key: key)
        #expect(adapter.verdict(on: token, keys: [key], expecting: Subject(user: "u", challenge: "m")) == Self.refused)
        #expect(adapter.verdict(on: token, keys: [key], expecting: Subject(user: "u")) == Self.refused)
    }

    private static let garbage = [
        "", ".", "..", "...", "a", "e30.e30.", String(repeating: "A", count: 1 << 20),
        String(repeating: ".", count: 1 << 20),
    ].map { TokenSample($0, "") }

    @Test(arguments: garbage) func `a string that is no token is rejected by Dotdigital's verifier`(
        _ sample: TokenSample
    )
        throws
    {
        let text = sample.json
        let adapter = try makeAdapter(DotdigitalAdapter.self, #"{"issuer":"i","audience":"a"}"#)
        #expect(
            adapter.verdict(on: Array(text.utf8), keys: [try SigningKey(text: "secret", .hs256)], expecting: user)
                == Self.refused)
    }
}
