import AdapterKit
import AsyncTestSupport
import Testing

@Suite struct RecipeTests {
    private func header(_ recipe: Recipe, keyID: String?) throws -> String {
        text(try Base64.url.decode(recipe.encodedHeader(keyID: keyID)[...]))
    }

    private func claims(
        _ claims: [Claim], _ subject: Subject = Subject(user: "u"), enrichment: Enrichment = Enrichment(),
        seed: UInt64 = 1
    ) throws(Rejection) -> String {
        var random = SeededGenerator(seed: seed)
        // Made for one life and used for another, as a form is kept from one second to the next.
        let first = Validity(from: 999_999_999, to: 12_000_000_000),
            life = Validity(from: 1_800_000_000, to: 1_800_000_900)
        let form = try TokenForm(SampleAdapter.recipe(claims: claims), keyID: nil, valid: first).valid(life)
        return text(try form.claims(for: subject, adding: enrichment, random: &random))
    }

    @Test func `the header has alg first and the other members in their order`() throws {
        #expect(try header(SampleAdapter.recipe(), keyID: "ignored") == #"{"alg":"HS256","typ":"JWT"}"#)
        let named = SampleAdapter.recipe(header: Recipe.typeAndKeyID)
        #expect(try header(named, keyID: "key-A") == #"{"alg":"HS256","typ":"JWT","kid":"key-A"}"#)
        #expect(try header(named, keyID: "a\"b") == #"{"alg":"HS256","typ":"JWT","kid":"a\"b"}"#)
        let turned = SampleAdapter.recipe(header: [.keyID, .constant(name: "cty", value: "x;v=1")])
        #expect(try header(turned, keyID: "k") == #"{"alg":"HS256","kid":"k","cty":"x;v=1"}"#)
        #expect(!SampleAdapter.recipe().needsKeyID)
        #expect(named.needsKeyID && turned.needsKeyID)
    }

    @Test func `a recipe that names the key makes no header for a key without an id`() {
        let error = #expect(throws: Rejection.self) {
            try SampleAdapter.recipe(header: Recipe.typeAndKeyID).encodedHeader(keyID: nil)
        }
        #expect(error?.code == .keyUnavailable)
    }

    @Test func `the claims are written in their order, with nested objects`() throws {
        let written = try claims([
            Claim("exp", .expiresAt), Claim("iat", .issuedAt), Claim("a\"b", .constant("c\\d")), Claim("sub", .user),
            Claim("nested", .object([Claim("deep", .object([Claim("id", .user)])), Claim("empty", .object([]))])),
        ])
        #expect(
            written
                == #"{"exp":1800000900,"iat":1800000000,"a\"b":"c\\d","sub":"u","nested":{"deep":{"id":"u"},"empty":{}}}"#
        )
    }

    @Test func `the claim of named ids is an object`() throws {
        let subject = Subject(identifiers: [.init(name: "registered", value: "u@example.com")])
        #expect(try claims([Claim("sub", .identifiers)], subject) == #"{"sub":{"registered":"u@example.com"}}"#)
    }

    @Test func `the claim of a user id keeps its bytes`() throws {
        for id in ["\u{E9}", "e\u{301}", "0012", "a/b=c%d", "\u{1F511}", " "] {
            let root = try JSONValue(try claims([Claim("sub", .user)], Subject(user: id)))
            #expect(root["sub"]?.string?.hasSameBytes(as: id) == true)
        }
    }

    @Test func `a claim whose enrichment is absent is left out, at any depth`() throws {
        let list = [
            Claim("a", .enrichment("x")), Claim("sub", .user), Claim("o", .object([Claim("b", .enrichment("x"))])),
            Claim("c", .enrichment("y")),
        ]
        #expect(try claims(list) == #"{"sub":"u","o":{}}"#)
        let found = Enrichment(["x": Array(#"[{"type":"Email"}]"#.utf8)])
        #expect(
            try claims(list, enrichment: found) == #"{"a":[{"type":"Email"}],"sub":"u","o":{"b":[{"type":"Email"}]}}"#)
    }

    @Test func `a subject that lacks what a claim needs is not minted for`() {
        let ids = Subject(identifiers: [.init(name: "registered", value: "r")])
        let cases: [(Claim.Value, Subject)] = [
            (.user, ids), (.identifiers, Subject(user: "u")), (.challenge, Subject(user: "u")),
            (.object([Claim("id", .user)]), ids),
        ]
        for (value, subject) in cases {
            let error = #expect(throws: Rejection.self) { try claims([Claim("needy", value)], subject) }
            #expect(error?.code == .mintFailed)
            #expect(error?.detail.contains("\"") == true)
        }
    }

    @Test func `a UUID claim is of version 4 and the same for the same seed`() throws {
        let shape = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        var seen: Set<String> = []
        var random = SeededGenerator(seed: 9)
        for _ in 0..<1000 {
            let id = RandomUUID.make(using: &random)
            #expect(id.wholeMatch(of: shape) != nil, "\(id)")
            seen.insert(id)
        }
        #expect(seen.count == 1000)
        let twice = [Claim("jti", .uuid), Claim("other", .uuid)]
        #expect(try claims(twice, seed: 5) == claims(twice, seed: 5))
        #expect(try claims(twice, seed: 5) != claims(twice, seed: 6))
        let root = try JSONValue(try claims(twice))
        #expect(root["jti"]?.string != root["other"]?.string)
    }
}
