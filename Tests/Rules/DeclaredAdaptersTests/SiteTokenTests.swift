import AdapterKit
import AdapterTestKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// Tokens that name no user, tokens that end by their age, and the SDKs that were read.
@Suite struct SiteTokenTests {
    private func text(_ passage: String = "", _ replacement: String = "") throws -> String {
        let text = try Places.text(ofRules: "site")
        guard !passage.isEmpty else { return text }
        try #require(text.contains(passage))
        return text.replacing(passage, with: replacement, maxReplacements: 1)
    }

    private func errors(_ passage: String, _ replacement: String) throws -> [String] {
        DeclaredVendor.load(try text(passage, replacement), file: "v.yaml").diagnostics
            .filter { $0.severity == .error }.map(\.message)
    }

    private func adapter() throws -> any Adapter {
        try Places.vendor(text()).adapter(settings: Array(#"{"origin":"https://example.com"}"#.utf8))
    }

    @Test func `the tests of a file without a user in its tokens pass`() throws {
        let failures = FileTestRun(try Places.vendor(text()), file: "site.yaml").failures()
        #expect(failures.map(\.description) == [])
    }

    @Test func `a token without exp is accepted until its age limit`() throws {
        let adapter = try adapter()
        #expect(adapter.lifetime == LifetimeBounds(standard: 900, allowed: 900...900))
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let subject = Subject(user: "https://example.com")
        let token = try TokenMaker(recipe: adapter.recipe(for: subject), key: key).token(for: subject, from: 1000)
        func verdict(at seconds: Int64) -> VendorVerdict {
            adapter.verify(
                token, against: [key.verificationKey], expecting: subject, at: UnixTime(seconds: seconds))
        }
        #expect(verdict(at: 1000) == .accepted)
        #expect(verdict(at: 1899) == .accepted)
        #expect(verdict(at: 1900) == .refused(code: "-", name: "Unauthorized"))
    }

    @Test func `a token without a user is every user's, and proves nothing about one`() throws {
        let adapter = try adapter()
        #expect(!adapter.tokensNameUser)
        #expect(!adapter.reportsFailedToken)
        let key = try SigningKey.generate(.es256, keyID: "k1")
        let subject = Subject(user: "a")
        let token = try TokenMaker(recipe: adapter.recipe(for: subject), key: key).token(for: subject, from: 1000)
        let verdict = adapter.verify(
            token, against: [key.verificationKey], expecting: Subject(user: "b"), at: UnixTime(seconds: 1001))
        #expect(verdict == .accepted)
        let claims = try #require(TokenInspection(token).claims)
        #expect(adapter.subject(named: claims) == nil)
    }

    @Test(arguments: [
        ("  names_user: false\n", "", "or names_user: false where a site or an app is the subject"),
        ("    iat: \"{{now}}\"\n", "    sub: \"{{user}}\"\n    iat: \"{{now}}\"\n", "remove token.names_user"),
        ("    iat: \"{{now}}\"\n", "    sub: \"{{user}}{{user}}\"\n    iat: \"{{now}}\"\n", "remove token.names_user"),
        (
            "    iat: \"{{now}}\"\n", "    all: [1, { $json: \"{{user}}\" }]\n    iat: \"{{now}}\"\n",
            "remove token.names_user"
        ),
        (
            "    iat: \"{{now}}\"\n", "    iat: \"{{now}}\"\n    exp: \"{{expires}}\"\n",
            "remove exp, or lifetime.age_limit"
        ),
        ("    iat: \"{{now}}\"\n", "", "lacks iat: \"{{now}}\", from which the vendor measures the age"),
        ("    iat: \"{{now}}\"\n", "    iat: { $now: { unit: milliseconds } }\n", "lacks iat: \"{{now}}\""),
        ("{ age_limit: 15m }", "{ standard: 1h, from: 1m, to: 2h }", "Write lifetime: { age_limit: 15m }"),
        ("{ age_limit: 15m }", "{ age_limit: 15m, to: 2h }", "unknown key token.lifetime.to; known here: age_limit"),
        ("{ age_limit: 15m }", "{ age_limt: 15m }", "did you mean age_limit?"),
        ("  code: [status]\n", "  code: [status]\n  token: [jwt]\n", "remove report.token"),
        (
            "  not_read: [iOS, Android 2]", "  skipped: [iOS]",
            "unknown key platforms.skipped; known here: read, not_read"
        ),
    ])
    func `mistakes in a token without a user or without an end are named`(
        _ passage: String, _ replacement: String, _ message: String
    ) throws {
        let found = try errors(passage, replacement)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test func `the SDKs that were not read are notices, and on the page`() throws {
        let (vendor, found) = DeclaredVendor.load(try text(), file: "v.yaml")
        #expect(found.filter { $0.severity == .notice }.map(\.message) == ["not read: iOS", "not read: Android 2"])
        #expect(found.allSatisfy { $0.severity == .notice && $0.place.line == 8 })
        let page = DocsPage(try #require(vendor).description).text
        #expect(page.contains("**SDKs read** for these rules:\n\n- JavaScript 5.0\n"))
        #expect(page.contains("**SDKs not read**, whose reports may differ:\n\n- iOS\n- Android 2\n"))
        #expect(page.contains("- has no `exp`: the vendor refuses it 900 s after its `iat`"))
        #expect(page.contains("- names no user"))
    }

    @Test func `a file that states no SDK has a notice, and its page states that`() throws {
        let (vendor, found) = DeclaredVendor.load(
            try text("platforms:\n  read: [\"JavaScript 5.0\"]\n  not_read: [iOS, Android 2]\n", ""), file: "v.yaml")
        #expect(found.map(\.severity) == [.notice])
        #expect(found.first?.message.hasPrefix("platforms is missing") == true)
        let page = DocsPage(try #require(vendor).description).text
        #expect(page.contains("does not state which SDKs were read"))
    }
}
