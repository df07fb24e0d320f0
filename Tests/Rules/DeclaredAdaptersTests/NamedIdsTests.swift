import AdapterKit
import AdapterTestKit
import DeclaredAdapters
import DeclaredTesting
import Formats
import JOSE
import Testing
import YAMLReading

/// Users with several named ids: elements of an array that a file leaves out where the edge does not vouch for them.
@Suite struct NamedIdsTests {
    private func errors(_ passage: String, _ replacement: String) throws -> [String] {
        let text = try Places.text(ofShipped: "helpshift")
        try #require(text.contains(passage))
        return DeclaredVendor.load(text.replacing(passage, with: replacement, maxReplacements: 1), file: "v.yaml")
            .diagnostics.filter { $0.severity == .error }.map(\.message)
    }

    @Test func `a token has the ids for which the edge vouches, and names the user it is for`() throws {
        let adapter = try Places.vendor(Places.text(ofShipped: "helpshift")).adapter(settings: Array("{}".utf8))
        let user = try adapter.user(
            vouchedBy: JSONDocument(parsing: Array(#"{"user":"u1","psn_id":"p\"1","email":"a@b.example"}"#.utf8)).root)
        let subject = Subject(user: "u1")
        var random = SystemRandomNumberGenerator()
        let form = try TokenForm(adapter.recipe(for: subject), keyID: nil, valid: Validity(from: 1, to: 2))
        let claims = try form.claims(for: subject, adding: user.grants, random: &random)
        #expect(
            String(decoding: claims, as: UTF8.self)
                == #"{"identities":[{"identifier":"uid","value":"u1"},{"identifier":"email","value":"a@b.example"},{"identifier":"psn_id","value":"p\"1"}],"iat":1}"#
        )
    }

    @Test func `a token of another user is refused, whatever other ids it has`() throws {
        let adapter = try Places.vendor(Places.text(ofShipped: "helpshift")).adapter(settings: Array("{}".utf8))
        let key = try SigningKey.generate(.hs256)
        let subject = Subject(user: "u1")
        func verdict(_ identities: String) throws -> VendorVerdict {
            let recipe = Recipe(
                algorithm: .hs256, header: Recipe.typeOnly,
                claims: [Claim("identities", .json(Array(identities.utf8))), Claim("iat", .issuedAt)],
                lifetime: adapter.lifetime)
            let token = try TokenMaker(recipe: recipe, key: key).token(for: subject, from: 1000)
            return adapter.verify(
                token, against: [key.verificationKey], expecting: subject, at: UnixTime(seconds: 1001))
        }
        let own = #"{"identifier":"uid","value":"u1"}"#, other = #"{"identifier":"uid","value":"u2"}"#
        let email = #"{"identifier":"email","value":"u1"}"#
        #expect(try verdict("[\(own)]") == .accepted)
        #expect(try verdict("[\(own),\(email)]") == .accepted)
        let others = [
            "[\(other)]", "[\(other),\(own)]", "[]", "{}", "[[\(own)]]", #"[{"value":["u1"]}]"#, #"[{"value":"u1"}]"#,
            "[\(email)]", #"[{"identifier":"zzz","value":"u1"}]"#, "[\(own),1]", "[\(own),\(email),\(email)]",
            #"[\#(own),{"identifier":"zzz","value":"u1"}]"#,
        ]
        for identities in others {
            #expect(try verdict(identities) != .accepted, "\(identities)")
        }
    }

    @Test(arguments: [
        (
            "$omit_if_absent: { identifier: email, value: \"{{vouched.email}}\" }",
            "$omit_if_absent: { identifier: email, value: none }", "write one {{vouched.…}} in it that is not required"
        ),
        (
            "$omit_if_absent: { identifier: email, value: \"{{vouched.email}}\" }",
            "$omit_if_absent: { identifier: \"{{vouched.uid}}\", value: \"{{vouched.email}}\" }",
            "write one {{vouched.…}} in it that is not required"
        ),
        (
            "$omit_if_absent: { identifier: email, value: \"{{vouched.email}}\" }",
            "$omit_if_absent: \"{{settings.identified_by}}\"", "write one {{vouched.…}} in it that is not required"
        ),
        (
            "$omit_if_absent: { identifier: email, value: \"{{vouched.email}}\" }",
            "{ identifier: email, value: \"{{vouched.email}}\" }", "vouched.email may be absent"
        ),
        (
            "- { identifier: \"{{settings.identified_by}}\", value: \"{{user}}\" }",
            "- $omit_if_absent: [\"{{vouched.discord_id}}\", \"{{user}}\"]", "no claim"
        ),
        ("value: \"{{user}}\"", "value: \"{{user}}{{user}}\"", "no claim names the user alone"),
        ("value: \"{{user}}\"", "value: \"{{user}}{{uuid}}\"", "no claim names the user alone"),
        (
            "iat: \"{{now}}\"",
            "iat: \"{{now}}\"\n    $one_of: { by: settings.identified_by, uid: { exp: 1 }, email: {} }",
            "token.claims has exp"
        ),
        (
            "iat: \"{{now}}\"",
            "iat: \"{{now}}\"\n    $one_of: { by: settings.identified_by, uid: { iat: 1 }, email: {} }",
            "the name \"iat\" is there already"
        ),
        (
            "iat: \"{{now}}\"",
            "iat: \"{{now}}\"\n    x: { $json: [{ $json: [{ $json: [{ $json: [{ $json: q }] }] }] }] }",
            "more than 4 $json inside each other"
        ),
    ])
    func `mistakes with elements that may be left out are named`(
        _ passage: String, _ replacement: String, _ message: String
    ) throws {
        let found = try errors(passage, replacement)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }
}
