import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The mistakes that a file may not have, and the places that the linter names.
@Suite struct LintTests {
    /// The mistakes in stream's file after `passage` became `replacement`.
    private func mistakes(_ passage: String, _ replacement: String, in name: String = "stream") throws -> [Diagnostic] {
        let text = try Places.text(ofShipped: name)
        try #require(text.contains(passage))
        let (vendor, diagnostics) = DeclaredVendor.load(
            text.replacing(passage, with: replacement, maxReplacements: 1), file: "v.yaml")
        let errors = diagnostics.filter { $0.severity == .error }
        #expect((vendor == nil) == !errors.isEmpty)
        return errors
    }

    /// The line and the column of `passage` in a file.
    private func place(of passage: String, in name: String = "stream") throws -> (line: Int, column: Int) {
        let text = try Places.text(ofShipped: name)
        let start = try #require(text.range(of: passage)).lowerBound
        let before = text[..<start].split(separator: "\n", omittingEmptySubsequences: false)
        return (before.count, (before.last?.count ?? 0) + 1)
    }

    @Test(arguments: [
        "report.room", "report.message", "message", "event.room", "device.room", "token.sub", "data.role", "error.user",
    ])
    func `a claim out of a report is refused`(_ source: String) throws {
        let found = try mistakes(
            "user_id: \"{{user}}\"\n  lifetime", "user_id: \"{{user}}\"\n    role: \"{{\(source)}}\"\n  lifetime")
        let mistake = try #require(found.first)
        #expect(mistake.message.contains("would let a report decide what a token grants"))
        let claim = try place(of: "user_id: \"{{user}}\"\n  lifetime")
        #expect(mistake.place.line == claim.line + 1)
        #expect(mistake.place.column == claim.column + "role: ".count)
    }

    @Test func `a subject out of a report's free text is refused`() throws {
        let cases = [
            ("user: [user_id, userId]", "user: [message]"),
            ("user: [user_id, userId]", "user: [\"message after user\"]"),
            ("user: [user_id, userId]", "user: [code]"), ("user: [user_id, userId]", "user: [\"{{message}}\"]"),
        ]
        for (passage, replacement) in cases {
            let mistake = try #require(try mistakes(passage, replacement).first, "\(replacement)")
            #expect(mistake.place.line == (try place(of: passage)).line)
            #expect(mistake.place.column > 1)
        }
    }

    @Test(arguments: [
        #"'{"user:{{user}}":["subscribe"]}'"#, #""room:{{user}},lobby""#, #""read:{{user}} write:lobby""#,
        #""id={{user}}&role=member""#, #""a|{{user}}""#, #"{ $json: { scope: "read:{{user}} write" } }"#,
        #"{ "{{user}},lobby": true }"#,
    ])
    func `a user inside a string that has parts is refused`(_ value: String) throws {
        let found = try mistakes(
            "user_id: \"{{user}}\"\n  lifetime", "user_id: \"{{user}}\"\n    grants: \(value)\n  lifetime")
        #expect(found.first?.message.hasPrefix("{{user}} is beside ") == true)
        #expect(found.first?.place.line == (try place(of: "user_id: \"{{user}}\"\n  lifetime")).line + 1)
    }

    @Test(arguments: [
        #""user:{{user}}""#, #""//chat.example/users/{{user}}?role=member""#, #"["user:{{user}}", "lobby"]"#,
        #"{ $json: { "user:{{user}}": [subscribe] } }"#,
    ])
    func `a user inside a string without parts, a URL, a list or $json is no mistake`(_ value: String) throws {
        #expect(
            try mistakes(
                "user_id: \"{{user}}\"\n  lifetime", "user_id: \"{{user}}\"\n    grants: \(value)\n  lifetime"
            ).isEmpty)
    }

    @Test func `a header member's name has no placeholder`() throws {
        let found = try mistakes("header: { typ: JWT }", "header: { typ: JWT, \"{{user}}\": a }", in: "knock")
        #expect(found.first?.message.hasPrefix("a header member's name is the same for all tokens") == true)
    }

    @Test func `a name of a claim out of a report is refused`() throws {
        let found = try mistakes(
            "user_id: \"{{user}}\"\n  lifetime", "user_id: \"{{user}}\"\n    \"room:{{report.room}}\": true\n  lifetime"
        )
        #expect(found.first?.message.contains("would let a report decide") == true)
    }

    @Test func `a header out of a report is refused`() throws {
        let found = try mistakes("header: { typ: JWT }", "header: { typ: JWT, kid: \"{{report.kid}}\" }")
        #expect(found.first?.message.contains("would let a report decide") == true)
    }

    @Test(arguments: [
        ("exp: \"{{expires}}\"", "nbf: \"{{expires}}\"", "never ends"),
        ("user_id: \"{{user}}\"\n  lifetime", "user_id: nobody\n  lifetime", "no claim names the user"),
        ("algorithm: HS256", "algorithm: none", "token.algorithm must be one of"),
        ("remedy: mint_once", "remedy: mint_onse", "did you mean mint_once?"),
        ("match: [40], evidence: expired,", "match: [40],", "AuthErrorTokenExpired has no evidence"),
        ("match: [40], evidence: expired,", "match: [40],", "add evidence: key, expired, revoked or none"),
        ("match: [40], evidence: expired,", "match: [40], evidence: expierd,", "did you mean expired?"),
        ("match: [2], evidence: none,", "match: [2], evidence: revoked,", "its remedy must be mint"),
        ("  about: the SDK's token provider asks\n  evidence: none", "  evidence: key", "marked ahead"),
        ("made_by: vendor", "made_by: ours", "no half that is ours alone"),
        ("{{settings.issued_at}}", "", ""),
        ("settings.issued_at,", "settings.issued,", "must name a setting"),
        ("encoding: utf8\n  made_by", "made_by", "key.encoding is missing"),
        ("type: boolean", "type: boolaen", "did you mean boolean?"),
        ("vendor_says:", "vendor_sais:", "did you mean vendor_says?"),
        ("match: [41]", "match: [40]", "two codes match the same"),
        ("\"{{now}}\"", "\"{{nwo}}\"", "did you mean {{now}}?"),
        ("\"{{now}}\"", "{ $noww: {} }", "did you mean $now?"),
        ("code_type: number", "code_type: numbers", "did you mean number?"),
        ("standard: 1h, from: 1m", "standard: 1h, from: 2h", "standard must lie between"),
    ])
    func `mistakes are named with what was meant`(_ passage: String, _ replacement: String, _ message: String) throws {
        guard !message.isEmpty else { return }
        let found = try mistakes(passage, replacement)
        #expect(found.contains { $0.message.contains(message) && $0.place.line > 1 }, "\(found)")
    }

    @Test func `a member that may be absent is refused unless it is omitted`() throws {
        let found = try mistakes(
            "channel: { $omit_if_absent: \"{{settings.channel}}\" }", "channel: \"{{settings.channel}}\"",
            in: "centrifugo")
        #expect(found.first?.message.contains("may be absent") == true)
        let vouched = try mistakes(
            "info: { $omit_if_absent: \"{{vouched.info}}\" }", "info: \"{{vouched.info}}\"", in: "centrifugo")
        #expect(vouched.first?.message.contains("may be absent") == true)
    }

    @Test func `a report cannot widen what a token grants`() throws {
        let vendor = try Places.vendor(Places.text(ofShipped: "livekit"))
        let adapter = try vendor.adapter(settings: Array("{}".utf8))
        let report = #"{"identity":"me","status":401,"video":{"room":"admin"},"vouched":{"video":{"room":"admin"}}}"#
        let root = try JSONDocument(parsing: Array(report.utf8)).root
        let reading = adapter.read(Report(root, observedAt: UnixTime(seconds: 1)))
        guard case .failure(let failure) = reading, let subject = failure.subject else { return }
        var random = SystemRandomNumberGenerator()
        let form = try TokenForm(adapter.recipe(for: subject), keyID: "k", valid: Validity(from: 1, to: 2))
        // The grant is required, and the report's is none.
        let refusal = #expect(throws: Rejection.self) { try form.claims(for: subject, random: &random) }
        #expect(refusal?.code == .missingVouched)
        let edge = try JSONDocument(parsing: Array(#"{"user":"me","video":{"room":"own"}}"#.utf8)).root
        let grants = try adapter.user(vouchedBy: edge).grants
        let claims = String(decoding: try form.claims(for: subject, adding: grants, random: &random), as: UTF8.self)
        #expect(claims.contains("own"))
        #expect(!claims.contains("admin"))
    }
}
