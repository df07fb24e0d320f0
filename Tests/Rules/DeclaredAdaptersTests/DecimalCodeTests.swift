import AdapterKit
import BrazeAdapter
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing

/// Codes that a bridge wrote as decimals, for vendors in files and for compiled ones.
@Suite struct DecimalCodeTests {
    private func reading(_ report: String, by adapter: any Adapter) throws -> Decision {
        let root = try JSONDocument(parsing: Array(report.utf8)).root
        return Decision(adapter.reading(of: Report(root, observedAt: UnixTime(seconds: 1_800_000_000))))
    }

    @Test(arguments: ["22.0", "2.2e1", "\"22.0\""])
    func `a compiled vendor's code is known in every form of its number`(_ code: String) throws {
        let braze = try BrazeAdapter(settings: .init())
        let plain = try reading(#"{"errorCode":22,"userId":"u"}"#, by: braze)
        #expect(try reading(#"{"errorCode":\#(code),"userId":"u"}"#, by: braze) == plain)
        #expect(plain.description.contains("mint"))
    }

    @Test(arguments: ["401.0", "4.01e2", "\"401.0\""])
    func `a declared vendor's code is known in every form of its number`(_ code: String) throws {
        let rooms = try Places.vendor(Places.text(ofRules: "rooms")).adapter(settings: Array("{}".utf8))
        let plain = try reading(#"{"code":401,"user":"u"}"#, by: rooms)
        #expect(plain.description.contains("EXPIRED"))
        #expect(try reading(#"{"code":\#(code),"user":"u"}"#, by: rooms) == plain)
        #expect(try reading(#"{"code":401.5,"user":"u"}"#, by: rooms) != plain)
    }

    @Test func `a shape's condition on a number holds in every form of it`() throws {
        let text = try Places.text(ofRules: "rooms").replacing(
            "  members: [user, code]", with: "  shapes: [{ sdk: X, when: { kind: 2 }, user: [who] }]",
            maxReplacements: 1)
        let rooms = try Places.vendor(text).adapter(settings: Array("{}".utf8))
        let plain = try reading(#"{"code":401,"who":"u","kind":2}"#, by: rooms)
        #expect(plain.description.contains("EXPIRED a/u"))
        #expect(try reading(#"{"code":401,"who":"u","kind":2.0}"#, by: rooms) == plain)
    }
}
