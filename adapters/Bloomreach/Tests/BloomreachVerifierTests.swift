import AdapterKit
import AdapterTestSupport
import BloomreachAdapter
import Testing

@Suite struct BloomreachVerifierTests {
    private static let rejected = "401 TOKEN_REJECTED"
    private let user = Subject(identifiers: [.init(name: "registered", value: "r")])

    private func verdict(
        _ mode: String, header: String, claims: String, keys: [SigningKey]? = nil, at time: UnixTime = now
    ) throws -> String {
        let adapter = try makeAdapter(BloomreachAdapter.self, #"{"mode":"\#(mode)"}"#)
        let key = try SigningKey(text: "secret", adapter.algorithm, keyID: "key-A")
        let token = try HandMade.token(header: header, claims: claims, key: key)
        return adapter.verdict(on: token, keys: keys ?? [key], expecting: user, at: time)
    }

    private static let streamClaims: [TokenSample] = [
        .init(#"{"exp":1800000001,"ids":{"registered":"r"}}"#, "accepted"),
        .init(#"{"ids":{"registered":"r"},"exp":1800000001,"iat":1}"#, "accepted"),
        .init(#"{"exp":1800000000,"ids":{"registered":"r"}}"#, "401 TOKEN_EXPIRED"),
        .init(#"{"exp":0,"ids":{"registered":"r"}}"#, "401 TOKEN_EXPIRED"),
        .init(#"{"exp":"1800000001","ids":{"registered":"r"}}"#, rejected),
        .init(#"{"ids":{"registered":"r"}}"#, rejected),
        .init(#"{"exp":1800000001,"ids":{}}"#, rejected),
        .init(#"{"exp":1800000001,"ids":{"registered":"s"}}"#, rejected),
        .init(#"{"exp":1800000001,"ids":{"registered":7}}"#, rejected),
        .init(#"{"exp":1800000001,"ids":["r"]}"#, rejected),
        .init(#"{"exp":1800000001,"sub":{"registered":"r"}}"#, rejected),
        .init(#"[]"#, rejected), .init(#"x"#, rejected),
    ]

    @Test(arguments: streamClaims) func `the verdict on a stream token's claims is the stream's`(_ sample: TokenSample)
        throws
    {
        #expect(
            try verdict("stream", header: #"{"alg":"HS512","typ":"JWT","kid":"key-A"}"#, claims: sample.json)
                == sample.verdict)
    }

    private static let customerClaims: [TokenSample] = [
        .init(#"{"sub":{"registered":"r"},"exp":1800000001}"#, "accepted"),
        .init(#"{"sub":{"registered":"r"},"exp":1800000000}"#, rejected),
        .init(#"{"sub":{"registered":"r"}}"#, rejected),
        .init(#"{"sub":{"registered":"r","cookie":"c"},"exp":1800000001}"#, "accepted"),
        .init(#"{"sub":{"cookie":"c"},"exp":1800000001}"#, rejected),
        .init(#"{"sub":{},"exp":1800000001}"#, rejected),
        .init(#"{"sub":"r","exp":1800000001}"#, rejected),
        .init(#"{"sub":{"registered":"s"},"exp":1800000001}"#, rejected),
        .init(#"{"ids":{"registered":"r"},"exp":1800000001}"#, rejected),
    ]

    @Test(arguments: customerClaims) func `the verdict on a customer token's claims is the project's`(
        _ sample: TokenSample
    )
        throws
    {
        #expect(
            try verdict("customer_token", header: #"{"alg":"HS256","typ":"JWT","kid":"key-A"}"#, claims: sample.json)
                == sample.verdict)
    }

    @Test(arguments: [
        #"{"alg":"HS256","typ":"JWT","kid":"key-A"}"#, #"{"alg":"HS512","typ":"JWT"}"#,
        #"{"alg":"HS512","typ":"JWT","kid":"key-B"}"#, #"{"alg":"none","typ":"JWT","kid":"key-A"}"#,
        #"{"alg":"HS512","kid":7}"#, "[]",
    ])
    func `a stream token with a bad header is rejected`(_ header: String) throws {
        #expect(
            try verdict("stream", header: header, claims: #"{"exp":1800000001,"ids":{"registered":"r"}}"#)
                == Self.rejected)
    }

    @Test func `either of two live secrets under one kid verifies a token`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, #"{"mode":"customer_token"}"#)
        let old = try SigningKey(text: "old", .hs256, keyID: "api-key"),
            new = try SigningKey(text: "new", .hs256, keyID: "api-key")
        let gone = try SigningKey(text: "gone", .hs256, keyID: "api-key"),
            other = try SigningKey(text: "old", .hs256, keyID: "other")
        for key in [old, new] {
            let token = try adapter.token(for: user, key: key)
            #expect(adapter.verdict(on: token, keys: [old, new], expecting: user) == "accepted")
            #expect(adapter.verdict(on: token, keys: [new, old], expecting: user) == "accepted")
            #expect(adapter.verdict(on: token, keys: [gone], expecting: user) == Self.rejected)
        }
        #expect(
            adapter.verdict(on: try adapter.token(for: user, key: gone), keys: [old, new], expecting: user)
                == Self.rejected)
        // The secret alone does not make a key: its id must be the token's.
        #expect(
            adapter.verdict(on: try adapter.token(for: user, key: other), keys: [old, new], expecting: user)
                == Self.rejected)
    }

    @Test func `a token of one mode is rejected in the other`() throws {
        let stream = try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream"}"#)
        let customer = try makeAdapter(BloomreachAdapter.self, #"{"mode":"customer_token"}"#)
        let streamKey = try SigningKey(text: "secret", .hs512, keyID: "k"),
            customerKey = try SigningKey(text: "secret", .hs256, keyID: "k")
        let keys = [streamKey, customerKey]
        #expect(
            stream.verdict(on: try customer.token(for: user, key: customerKey), keys: keys, expecting: user)
                == Self.rejected)
        #expect(
            customer.verdict(on: try stream.token(for: user, key: streamKey), keys: keys, expecting: user)
                == Self.rejected)
        #expect(
            stream.verdict(on: try stream.token(for: user, key: streamKey), keys: keys, expecting: user) == "accepted")
    }

    private static let garbage = [
        "", ".", "..", "...", "a", "Bearer a.b.c", "e30.e30.", String(repeating: "A", count: 1 << 20),
        String(repeating: ".", count: 1 << 20),
    ].map { TokenSample($0, "") }

    @Test(arguments: garbage) func `a string that is no token is rejected as Bloomreach rejects it`(
        _ sample: TokenSample
    )
        throws
    {
        let text = sample.json
        let adapter = try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream"}"#)
        let expected = text.isEmpty ? "401 TOKEN_NOT_PROVIDED" : Self.rejected
        #expect(
            adapter.verdict(
                on: Array(text.utf8), keys: [try SigningKey(text: "s", .hs512, keyID: "k")], expecting: user)
                == expected)
    }
}
