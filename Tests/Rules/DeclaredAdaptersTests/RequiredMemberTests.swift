import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The members that the edge must vouch for, without which a token would be of no use.
@Suite struct RequiredMemberTests {
    private func adapter(_ change: (String) -> String = { $0 }) throws -> any Adapter {
        try Places.vendor(change(try Places.text(ofRules: "rooms"))).adapter(settings: Array("{}".utf8))
    }

    private func vouched(_ json: String, by adapter: any Adapter) throws -> VouchedUser {
        try adapter.user(vouchedBy: JSONDocument(parsing: Array(json.utf8)).root)
    }

    private func errors(_ passage: String, _ replacement: String) throws -> [Diagnostic] {
        let text = try Places.text(ofRules: "rooms")
        try #require(text.contains(passage))
        return DeclaredVendor.load(text.replacing(passage, with: replacement, maxReplacements: 1), file: "v.yaml")
            .diagnostics.filter { $0.severity == .error }
    }

    @Test func `the tests of a file with required members pass`() throws {
        let vendor = try Places.vendor(Places.text(ofRules: "rooms"))
        #expect(FileTestRun(vendor, file: "rooms.yaml").failures().map(\.description) == [])
        #expect(vendor.tests?.apps.first?.vouched == Array(#"{"room":{"name":"r1"},"roles":["host","guest"]}"#.utf8))
    }

    @Test func `a token without a required member is refused, and one without another member is not`() throws {
        let adapter = try adapter()
        #expect(adapter.requiredVouched == ["room", "roles"])
        #expect(adapter.refusalOfMissingMembers(in: nil)?.code == .missingVouched)
        let half = try vouched(#"{"user":"u1","room":{"name":"r1"},"nick":"ann"}"#, by: adapter)
        let refusal = try #require(adapter.refusalOfMissingMembers(in: half))
        #expect(refusal.code == .missingVouched)
        #expect(refusal.detail.contains("\"roles\""))
        let whole = try vouched(#"{"user":"u1","room":{"name":"r1"},"roles":["host"]}"#, by: adapter)
        #expect(adapter.refusalOfMissingMembers(in: whole) == nil)
        let subject = Subject(user: "u1")
        var random = SystemRandomNumberGenerator()
        let form = try TokenForm(adapter.recipe(for: subject), keyID: nil, valid: Validity(from: 1, to: 2))
        for grants in [Enrichment(), half.grants] {
            let error = #expect(throws: Rejection.self) {
                try form.claims(for: subject, adding: grants, random: &random)
            }
            #expect(error?.code == .missingVouched)
        }
        let claims = try form.claims(for: subject, adding: whole.grants, random: &random)
        #expect(
            String(decoding: claims, as: UTF8.self)
                == #"{"sub":"u1","exp":2,"room":{"name":"r1"},"room_text":"{\"name\":\"r1\"}","roles":"host","all":[["host"],{"inside":{"name":"r1"}}]}"#
        )
    }

    @Test func `a required member is required within $omit_if_absent too`() throws {
        let adapter = try adapter {
            $0.replacing("room: \"{{vouched.room}}\"", with: "room: { $omit_if_absent: \"{{vouched.room}}\" }")
        }
        let subject = Subject(user: "u1")
        var random = SystemRandomNumberGenerator()
        let form = try TokenForm(adapter.recipe(for: subject), keyID: nil, valid: Validity(from: 1, to: 2))
        let error = #expect(throws: Rejection.self) { try form.claims(for: subject, random: &random) }
        #expect(error?.code == .missingVouched)
    }

    @Test(arguments: [
        (
            "room: { type: object, at_most: 256, required: true,", "room: { type: object,",
            "or required: true in vouched.room"
        ),
        ("$json: \"{{vouched.room}}\"", "$json: { a: \"{{vouched.room}}\" }", "$json contains {{vouched.…}} alone"),
        ("room: \"{{vouched.room}}\"", "room: \"a {{vouched.room}}\"", "stands alone"),
        ("required: true, about: \"the room", "required: yes, about: \"the room", "must be true or false"),
        ("required: true, about: \"the room", "requird: true, about: \"the room", "did you mean required?"),
        ("rejected: missing_vouched", "rejected: missing_vouchd", "did you mean missing_vouched?"),
    ])
    func `mistakes with required members are named`(
        _ passage: String, _ replacement: String, _ message: String
    ) throws {
        let found = try errors(passage, replacement)
        #expect(found.contains { $0.message.contains(message) && $0.place.line > 1 }, "\(found)")
    }

    @Test func `a file whose tests vouch for no required member fails its tests`() throws {
        let text = try Places.text(ofRules: "rooms").replacing(
            "vouched: { room: { name: r1 }, roles: [host, guest] }", with: "vouched: { room: { name: r1 } }")
        let failures = FileTestRun(try Places.vendor(text), file: "rooms.yaml").failures().map(\.message)
        #expect(failures.contains { $0.contains("no token can be tested") && $0.contains("\"room\"") }, "\(failures)")
        #expect(failures.contains { $0.hasPrefix("no token: missing_vouched") }, "\(failures)")
    }

    @Test func `a token that is made where none is expected fails the tests`() throws {
        let text = try Places.text(ofRules: "rooms").replacing(
            "vouched: { room: { name: r1 } }\n", with: "vouched: { room: { name: r1 }, roles: [] }\n")
        let failures = FileTestRun(try Places.vendor(text), file: "rooms.yaml").failures().map(\.message)
        #expect(failures.contains { $0.contains("expected no token because of missing_vouched") }, "\(failures)")
    }

    @Test func `the page names the required members and what becomes of events without them`() throws {
        let page = DocsPage(try Places.vendor(Places.text(ofRules: "rooms")).description).text
        #expect(page.contains("| `room` | object | yes |"))
        #expect(page.contains("| `nick` | text | no |"))
        #expect(page.contains("dead-letters it as `missing_vouched`"))
    }
}
