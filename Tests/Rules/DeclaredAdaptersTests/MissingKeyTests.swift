import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The linter's errors about missing and unknown keys, and its warnings about tests.
@Suite struct MissingKeyTests {
    private func diagnostics(_ passage: String, _ replacement: String) throws -> [Diagnostic] {
        let text = try Places.text(ofRules: "rooms")
        try #require(text.contains(passage))
        return DeclaredVendor.load(text.replacing(passage, with: replacement, maxReplacements: 1), file: "v.yaml")
            .diagnostics
    }

    private func errors(_ passage: String, _ replacement: String) throws -> [String] {
        try diagnostics(passage, replacement).filter { $0.severity == .error }.map(\.message)
    }

    @Test func `all known keys of a section are listed, whichever of them were read`() throws {
        let found = try errors("  members: [user, code]", "  members: [user, code]\n  belongs: { zone: shop }")
        #expect(
            found == [
                "report.belongs.at is missing: The member that names the app.",
                "report.belongs.is is missing: The setting that it must equal, such as settings.app_id.",
                "report.belongs.otherwise is missing: The reason for the refusal of another value.",
                "unknown key report.belongs.zone; known here: at, is, otherwise",
            ])
    }

    @Test func `all missing keys of a section are reported in one run`() throws {
        let found = try errors("lifetime: { standard: 1h, from: 1m, to: 6h }", "lifetime: { from: 1m }")
        #expect(found.contains { $0.hasPrefix("token.lifetime.standard is missing") }, "\(found)")
        #expect(found.contains { $0.hasPrefix("token.lifetime.to is missing") }, "\(found)")
        #expect(found.count == 2)
    }

    @Test func `a missing section is one error, without those of its keys`() throws {
        let found = try errors("device: { call: \"rooms.join(token)\" }", "")
        #expect(found == ["device is missing"])
        let verdicts = try errors("vendor_says:\n  otherwise: 401 Unauthorized\n", "")
        #expect(verdicts == ["vendor_says is missing"])
    }

    @Test(arguments: [
        ("  older_tokens: stay_good\n", "key:\n", "key.older_tokens is missing"),
        ("  encoding: utf8\n", "key:\n", "key.encoding is missing"),
        ("  user: [user]\n", "report:\n", "report does not name the user's member"),
        (" from: 1m,", "lifetime: {", "token.lifetime.from is missing"),
        ("call: \"rooms.join(token)\"", "device: {", "device.call is missing"),
        (", about: \"the user's name in the room\"", "nick: {", "vouched.nick.about is missing"),
    ])
    func `a missing key is at the name of its section`(
        _ passage: String, _ section: String, _ message: String
    ) throws {
        let found = try diagnostics(passage, "")
        let error = try #require(found.first { $0.message.hasPrefix(message) }, "\(found)")
        let text = try Places.text(ofRules: "rooms").replacing(passage, with: "", maxReplacements: 1)
        let start = try #require(text.range(of: section)).lowerBound
        let lines = text[..<start].split(separator: "\n", omittingEmptySubsequences: false)
        #expect(error.place.line == lines.count)
        #expect(error.place.column == (lines.last?.count ?? 0) + 1)
    }

    @Test func `a section that is read by its key has its keys declared`() throws {
        let found = try errors("  members: [user, code]", "  members: [user, code, at]\n  time: { at: at, zone: UTC }")
        #expect(found.contains { $0.hasPrefix("report.time.unit is missing") }, "\(found)")
        #expect(found.contains { $0.hasPrefix("unknown key report.time.zone; known here: at, unit") }, "\(found)")
        #expect(found.count == 2)
    }

    @Test func `a misspelled section is no missing one`() throws {
        #expect(try errors("vendor_says:", "vendor_sais:") == ["unknown key vendor_sais; did you mean vendor_says?"])
    }

    @Test func `an unknown member of a function does not hide the known ones`() throws {
        let found = try errors("{ of: \"{{vouched.roles}}\", with: \" \" }", "{ off: [a], with: \" \" }")
        #expect(found.contains("unknown key token.claims.roles.off; did you mean of?"), "\(found)")
        #expect(!found.contains { $0.contains("unknown key token.claims.roles.with") }, "\(found)")
    }

    @Test func `the second of two codes that match the same is the place of the error`() throws {
        let found = try diagnostics("match: [404]", "match: [401]")
        let text = try Places.text(ofRules: "rooms")
        let line = text[..<(try #require(text.range(of: "match: [404]")).lowerBound)].filter { $0 == "\n" }.count + 1
        let error = try #require(found.first { $0.message.contains("two codes match the same") })
        #expect(error.place.line == line)
        #expect(error.message.contains("EXPIRED and NO_ROOM"))
    }

    @Test func `missing tests are warnings, and the file can be used`() throws {
        let text = try Places.text(ofRules: "rooms")
        let start = try #require(text.range(of: "  tokens:\n")).lowerBound
        let (vendor, found) = DeclaredVendor.load(String(text[..<start]), file: "v.yaml")
        #expect(vendor != nil)
        let line = text[..<(try #require(text.range(of: "tests:\n")).lowerBound)].filter { $0 == "\n" }.count + 1
        #expect(
            found.map(\.description) == [
                "v.yaml:\(line):1: warning: tests.tokens is missing; remint adapter test fails without it",
                "v.yaml:\(line):1: warning: tests.verdicts is missing; remint adapter test fails without it",
            ])
        let none = DeclaredVendor.load(
            String(text[..<(try #require(text.range(of: "tests:\n")).lowerBound)]), file: "v.yaml")
        #expect(none.vendor != nil)
        #expect(none.diagnostics.count == 1)
        #expect(none.diagnostics.first?.message.hasPrefix("the file has no tests") == true)
    }

    @Test func `the missing verdict on all other tokens is one failure at the verdicts`() throws {
        let text = try Places.text(ofRules: "rooms").replacing("    \"*\": 401 Unauthorized\n", with: "")
        let (vendor, found) = DeclaredVendor.load(text, file: "v.yaml")
        #expect(
            found.map(\.message) == ["tests.verdicts lacks \"*\", the vendor's answer to every other corrupted token"])
        let failures = FileTestRun(try #require(vendor), file: "v.yaml").failures()
        let line = text[..<(try #require(text.range(of: "  verdicts:\n")).lowerBound)].filter { $0 == "\n" }.count + 1
        #expect(failures.count == 1)
        #expect(failures.first?.place.line == line)
        #expect(failures.first?.message.hasPrefix("tests.verdicts lacks \"*\"") == true, "\(failures)")
        #expect(failures.first?.message.contains(" more; here 401 Unauthorized") == true, "\(failures)")
    }

    @Test func `a batch job's request of a challenged vendor fails at its app`() throws {
        let text = try Places.text(ofRules: "rooms")
            .replacing("  members: [user, code]", with: "  members: [user, code, nonce]\n  challenge: [nonce]")
            .replacing("    sub: \"{{user}}\"", with: "    sub: \"{{user}}\"\n    nonce: \"{{challenge}}\"")
        let failures = FileTestRun(try Places.vendor(text), file: "v.yaml").failures()
        let line = text[..<(try #require(text.range(of: "    shop: {")).lowerBound)].filter { $0 == "\n" }.count + 1
        let failure = try #require(failures.first { $0.message.contains("remove \"reissue\" from the app") })
        #expect(failure.place.line == line)
    }

    @Test func `a UUID at each place is another one`() throws {
        let text = try Places.text(ofRules: "rooms").replacing(
            "    sub: \"{{user}}\"", with: "    sub: \"{{user}}\"\n    jti: \"{{uuid}}\"\n    sid: \"s-{{uuid}}\"")
        let adapter = try Places.vendor(text).adapter(settings: Array("{}".utf8))
        let json = Array(#"{"user":"u1","room":{},"roles":["a"]}"#.utf8)
        let grants = try adapter.user(vouchedBy: JSONDocument(parsing: json).root).grants
        let subject = Subject(user: "u1")
        let form = try TokenForm(adapter.recipe(for: subject), keyID: nil, valid: Validity(from: 1, to: 2))
        var random = SystemRandomNumberGenerator()
        let claims = try JSONDocument(parsing: form.claims(for: subject, adding: grants, random: &random)).root
        let first = try #require(claims["jti"]?.string), second = try #require(claims["sid"]?.string)
        #expect(UUID(uuidString: first) != nil && UUID(uuidString: String(second.dropFirst(2))) != nil)
        #expect(second != "s-\(first)")
    }
}
