import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// A claim that a setting leaves out: `$omit` is written for each word without one.
@Suite struct OmissionTests {
    private static let claim = "iat: { $one_of: { by: settings.issued_at, true: \"{{now}}\", false: $omit } }"

    private func errors(_ passage: String, _ replacement: String, in name: String = "stream") throws -> [Diagnostic] {
        let text = try Places.text(ofShipped: name)
        try #require(text.contains(passage))
        return DeclaredVendor.load(text.replacing(passage, with: replacement, maxReplacements: 1), file: "v.yaml")
            .diagnostics.filter { $0.severity == .error }
    }

    @Test func `a word without a result is an error at the claim`() throws {
        let found = try errors(", false: $omit", "")
        #expect(
            found.map(\.message) == [
                "token.claims.iat has no result for issued_at: false; write false: $omit to leave the claim out"
            ])
        #expect((found.first?.place.line ?? 0) > 1)
        #expect(
            try errors(", false: $omit", "", in: "jitsi").map(\.message) == [
                "token.header.kid has no result for names_key: false; write false: $omit to leave the member out"
            ])
    }

    @Test func `a claim has its result for each word, and none where the word has $omit`() throws {
        let vendor = try Places.vendor(Places.text(ofShipped: "stream"))
        for (settings, hasClaim) in [("{}", false), (#"{"issued_at":true}"#, true)] {
            let adapter = try vendor.adapter(settings: Array(settings.utf8))
            let subject = Subject(user: "u1")
            var random = SystemRandomNumberGenerator()
            let form = try TokenForm(adapter.recipe(for: subject), keyID: nil, valid: Validity(from: 1, to: 2))
            let claims = try JSONDocument(parsing: form.claims(for: subject, random: &random)).root
            #expect((claims["iat"] != nil) == hasClaim)
        }
    }

    @Test func `claims that a setting selects accept $omit as well as no claims`() throws {
        let choice = "$one_of: { by: settings.issued_at, true: { iat: \"{{now}}\" }, false: $omit }"
        #expect(try errors(Self.claim, choice) == [])
        let gap = "$one_of: { by: settings.issued_at, true: { iat: \"{{now}}\" } }"
        #expect(
            try errors(Self.claim, gap).map(\.message) == [
                "token.claims.$one_of has no result for issued_at: false; write false: {} for no claims"
            ])
    }

    @Test(arguments: [
        ("iat: $omit", "token.claims.iat: $omit is a result of $one_of"),
        (
            "all: [{ $one_of: { by: settings.issued_at, true: 1, false: $omit } }]",
            "token.claims.all.false: only a member can be left out"
        ),
        (
            "all: [{ $one_of: { by: settings.issued_at, true: 1 } }]",
            "token.claims.all has no result for issued_at: false; write false: its value"
        ),
    ])
    func `the word $omit is refused where nothing can be left out`(_ replacement: String, _ message: String) throws {
        let found = try errors(Self.claim, replacement)
        #expect(found.contains { $0.message.hasPrefix(message) }, "\(found)")
    }

    @Test func `a header's member cannot be $omit by itself`() throws {
        let found = try errors("header: { typ: JWT }", "header: { typ: $omit }")
        #expect(found.contains { $0.message.hasPrefix("token.header.typ: $omit is a result of $one_of") }, "\(found)")
    }

    @Test func `a user that a setting leaves out is no user of the token`() throws {
        let found = try errors(
            "user_id: \"{{user}}\"\n  lifetime",
            "user_id: { $one_of: { by: settings.issued_at, true: \"{{user}}\", false: $omit } }\n  lifetime")
        #expect(found.contains { $0.message.hasPrefix("no claim names the user") }, "\(found)")
    }
}
