import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The rules for ids in a file, and ids in claim names and URLs.
@Suite struct IdentifierTests {
    private func adapter(_ name: String, _ settings: String = "{}") throws -> any Adapter {
        try Places.vendor(Places.text(ofShipped: name)).adapter(settings: Array(settings.utf8))
    }

    private func claims(_ adapter: any Adapter, _ user: String) throws -> JSONValue {
        var random = SystemRandomNumberGenerator()
        let form = try TokenForm(adapter.recipe(for: Subject(user: user)), keyID: "k", valid: Validity(from: 1, to: 2))
        return try JSONDocument(parsing: form.claims(for: Subject(user: user), random: &random)).root
    }

    private func mistakes(_ passage: String, _ replacement: String, in name: String = "stream") throws -> [String] {
        let text = try Places.text(ofShipped: name)
        try #require(text.contains(passage))
        return DeclaredVendor.load(text.replacing(passage, with: replacement, maxReplacements: 1), file: "v.yaml")
            .diagnostics.filter { $0.severity == .error }.map(\.message)
    }

    private static let refused = [
        ("ably", "*"), ("ably", "a*"), ("sinch", "a/b"), ("sinch", "ann@example.com"), ("sinch", "é"),
        ("stream", "a.b"), ("stream", "a b"), ("knock", "."), ("knock", ".."),
        ("pusher-beams", String(repeating: "x", count: 165)),
        ("zendesk", String(repeating: "x", count: 256)), ("talkjs", "a\u{0}"), ("livekit", "a\nb"),
    ]

    @Test(arguments: refused) func `an id that the vendor reserves or refuses has no token`(
        _ name: String, _ id: String
    ) throws {
        let settings = ["sinch": #"{"application_key":"k"}"#, "knock": #"{"explicit_grants":true}"#]
        let vendor = try Places.vendor(Places.text(ofShipped: name))
        let app = try #require(vendor.tests?.apps.first)
        let adapter = try vendor.adapter(settings: settings[name].map { Array($0.utf8) } ?? app.settings)
        var json = JSONWriter()
        json.beginObject()
        json.member("user", id)
        json.endObject()
        let members = try JSONDocument(parsing: json.bytes).root
        let vouched = #expect(throws: Rejection.self) { try adapter.user(vouchedBy: members) }
        #expect(vouched?.code == .malformedEvent)
        guard case .rejected(let rejection) = Reissue.read(members, for: adapter) else {
            Issue.record("a re-issue is answered")
            return
        }
        #expect([.malformedReport, .missingChallenge].contains(rejection.code))
        #expect(!rejection.detail.contains(id) || id.count < 3)
    }

    @Test func `a user in a URL is one encoded part of it, and is read back`() throws {
        let knock = try adapter("knock", #"{"explicit_grants":true}"#)
        for id in ["u-1", "a/b", "x/../../tenants/y", "a?b#c", "é", "%2F"] {
            let claims = try claims(knock, id)
            let urls = try #require(claims["grants"]).members.map(\.name)
            let prefix = "https://api.knock.app/v1/users/"
            #expect(urls == [prefix + PercentEncoding.encoded(id)])
            #expect(PercentEncoding.decoded(urls[0].utf8.dropFirst(prefix.utf8.count)) == id)
            #expect(claims["sub"]?.string == id)
        }
        let sinch = try adapter("sinch", #"{"application_key":"k"}"#)
        let claims = try claims(sinch, "a/b")
        #expect(claims["sub"]?.string == "//rtc.sinch.com/applications/k/users/a%2Fb")
        #expect(sinch.subject(named: claims) == Subject(user: "a/b"))
        let plain = try JSONDocument(parsing: Array(#"{"sub":"//rtc.sinch.com/applications/k/users/a/b"}"#.utf8)).root
        #expect(sinch.subject(named: plain) == nil, "not as we write it")
    }

    private static let claims = "exp: \"{{expires}}\""

    @Test(arguments: [
        "\"{{user}}\": true", "\"e{{user}}\": true", "\"us{{user}}\": true", "\"{{key_id}}\": true",
        "\"a-{{user}}\": true\n    \"a-{{user}}-b\": true", "\"a-{{user}}\": true\n    a-b: true",
    ])
    func `a claim's name that may be another one's is refused`(_ claim: String) throws {
        let found = try mistakes(Self.claims, "\(Self.claims)\n    \(claim)")
        #expect(
            found.contains { $0.contains("begin it with characters that no name beside it begins with") }, "\(found)")
    }

    @Test(arguments: [
        "\"room:{{user}}\": true", "\"a-{{user}}\": true\n    \"b-{{user}}\": true", "grants: { \"{{user}}\": true }",
    ])
    func `a claim's name with a beginning of its own is taken`(_ claim: String) throws {
        #expect(try mistakes(Self.claims, "\(Self.claims)\n    \(claim)") == [])
    }

    @Test func `names under different words of a choice do not meet`() throws {
        let both = "$one_of: { by: settings.issued_at, true: { \"a-{{user}}\": 1 }, false: { a-b: 2 } }"
        #expect(try mistakes(Self.claims, "\(Self.claims)\n    \(both)") == [])
    }

    @Test func `a user is no part of a joined text`() throws {
        let found = try mistakes(Self.claims, "\(Self.claims)\n    all: { $join: { of: [a, \"{{user}}\"] } }")
        #expect(found.contains { $0.contains("$join") })
    }

    @Test func `a setting that makes two claims of one name is refused when the app is configured`() throws {
        let text = try Places.text(ofShipped: "stream").replacing(
            "settings:\n", with: "settings:\n  extra: { type: text, default: more, about: a claim }\n",
            maxReplacements: 1
        ).replacing(Self.claims, with: "\(Self.claims)\n    \"{{settings.extra}}\": true", maxReplacements: 1)
        let vendor = try Places.vendor(text)
        #expect(throws: Never.self) { try vendor.adapter(settings: Array("{}".utf8)) }
        let error = #expect(throws: (any Error).self) { try vendor.adapter(settings: Array(#"{"extra":"exp"}"#.utf8)) }
        #expect("\(try #require(error))".contains("two claims"))
    }

    @Test(arguments: [
        ("user_characters: \"[A-Za-z0-9@_-]\"", "user_characters: A-Z", "is a class of visible ASCII characters"),
        ("user_characters: \"[A-Za-z0-9@_-]\"", "user_characters: \"[z-a]\"", "is a class of visible ASCII characters"),
        ("user_characters: \"[A-Za-z0-9@_-]\"", "user_never: [\"\"]", "ids that no user has"),
        ("user_characters: \"[A-Za-z0-9@_-]\"", "user_caracters: \"[a]\"", "did you mean user_characters?"),
    ])
    func `mistakes in what ids may be are named`(_ passage: String, _ replacement: String, _ message: String) throws {
        let found = try mistakes(passage, replacement)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test func `the vendor's page states the rule for ids`() throws {
        let text = try Places.text(ofShipped: "sinch").replacing(
            "  user_limit: 255 bytes\n", with: "  user_limit: 255 bytes\n  user_never: [admin]\n")
        let page = DocsPage(try Places.vendor(text).description).text
        #expect(page.contains("at most 255 bytes") && page.contains("`[A-Za-z0-9_=-]`") && page.contains("`admin`"))
    }
}
