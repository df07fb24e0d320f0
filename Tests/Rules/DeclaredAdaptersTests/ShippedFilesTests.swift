import AdapterKit
import AdapterTestSupport
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The vendors that come with the program.
@Suite struct ShippedFilesTests {
    @Test func `the manifest lists the shipped vendors, at least thirty`() throws {
        let manifest = try String(contentsOf: Places.root.appending(path: "Package.swift"), encoding: .utf8)
        let list = try #require(manifest.firstMatch(of: /let declaredVendors = \[([^\]]*)\]/)).1
        #expect(Set(list.matches(of: /"([a-z-]+)"/).map { String($0.1) }) == Set(Places.shipped))
        #expect(Places.shipped.count >= 30)
    }

    @Test(arguments: Places.shipped) func `the tests of a shipped vendor file pass`(_ name: String) throws {
        let vendor = try Places.vendor(Places.text(ofShipped: name), file: "\(name).yaml")
        #expect(vendor.description.name == name)
        let outcome = FileTestRun(vendor, file: "\(name).yaml").outcome()
        #expect(outcome.failures.map(\.description) == [])
        // Each code has a report.
        #expect(outcome.warnings.map(\.description) == [])
        #expect(outcome.count >= 20)
    }

    @Test(arguments: Places.shipped) func `a vendor whose codes blame the key reads the words beside them`(
        _ name: String
    ) throws {
        let description = try Places.vendor(Places.text(ofShipped: name)).description
        let codes = description.codes
        let blames = (codes.codes + [codes.unknown, codes.missing].compactMap(\.self)).contains { $0.evidence == .key }
        guard blames, !description.report.members.isDisjoint(with: ["message", "msg", "description"]) else { return }
        for shape in description.report.shapes { #expect(!shape.message.isEmpty) }
    }

    /// Checks the files that read an HTTP status as a code. Freshchat's status is a word.
    @Test(arguments: Places.shipped) func `a 401 and a 403 are about the token`(_ name: String) throws {
        let description = try Places.vendor(Places.text(ofShipped: name)).description
        let paths = description.report.shapes.flatMap(\.code)
        guard paths.contains(where: { $0.text.lowercased().contains("status") }), name != "freshchat" else { return }
        for status: Int64 in [401, 403] {
            let matched = description.codes.codes.first { code in
                code.matches.contains {
                    if case .numbers(let range) = $0.value { range.contains(status) } else { false }
                }
            }
            if case .notForUs? = (matched ?? description.codes.unknown)?.remedy {
                Issue.record("\(name): \(status) is skipped")
            }
        }
    }

    /// Tests tokens that vendors publish, or others made by the same rules: a file cannot lose them unseen.
    @Test(arguments: [
        ("sinch", 1), ("stream", 1), ("centrifugo", 3), ("iterable", 1), ("twilio", 1), ("pusher-beams", 1),
        ("livekit", 1), ("magicbell", 1), ("tableau", 1), ("zendesk", 1),
    ])
    func `published tokens are made to the byte`(_ name: String, _ count: Int) throws {
        let vendor = try Places.vendor(Places.text(ofShipped: name))
        let tests = try #require(vendor.tests)
        let published = tests.tokens.filter { $0.token != nil }
        #expect(published.count >= count)
        for test in published {
            let made = try MadeToken(test, tests, vendor)
            #expect(String(decoding: made.token, as: UTF8.self) == test.token)
        }
    }

    @Test(
        .enabled(if: Joserfc.isInstalled, "\(Joserfc.isMissing)"), .timeLimit(.minutes(5)), arguments: Places.shipped)
    func `joserfc verifies every token with the file's own key`(_ name: String) async throws {
        let vendor = try Places.vendor(Places.text(ofShipped: name))
        let tests = try #require(vendor.tests)
        for test in tests.tokens where test.rejection == nil {
            let made = try MadeToken(test, tests, vendor)
            let key = try #require(try Self.key(made, test))
            let verified = try await Joserfc.verify(made.token, made.adapter.algorithm.rawValue, key)
            let lines = try #require(verified, "\(name): \(String(decoding: made.token, as: UTF8.self))").split(
                separator: "\n", maxSplits: 1)
            #expect(lines.count == 2 && lines[1] == String(decoding: made.payload, as: UTF8.self))
        }
    }

    /// The key as joserfc takes it. That of a day is derived here by hand: HMAC-SHA256 by way of HS256.
    private static func key(_ made: MadeToken, _ test: FileTests.Token) throws -> Joserfc.Key? {
        if let pem = try made.key.publicKeyPEM() { return .pem(pem) }
        var key = made.key
        if let derivation = made.adapter.recipe(for: made.subject).derivation {
            key = try key.derived(with: derivation.label(at: test.issuedAt.seconds))
        }
        return key.secret.map { secret in
            let text = SecretEncoding.hex.encode(secret)
            return .hex(text.withBytes { String(decoding: $0, as: UTF8.self) })
        }
    }

    @Test(arguments: Places.shipped) func `the page of a shipped vendor has every section and fact`(_ name: String)
        throws
    {
        let vendor = try Places.vendor(Places.text(ofShipped: name))
        let page = DocsPage(vendor.description).text
        for heading in ["## Settings", "## Reports", "## Codes", "## Token", "## Keys", "## Device", "## Sources"] {
            #expect(page.contains(heading))
        }
        for fact in vendor.description.missing { #expect(page.contains(fact.text)) }
        #expect(!vendor.description.sources.isEmpty)
    }

    /// A vendor that lacks one fact has an error that names it, and so has an app that uses this vendor.
    @Test(arguments: ["moengage", "zendesk", "livekit", "talkjs", "intercom"])
    func `a missing fact is a warning`(_ name: String) throws {
        let (vendor, diagnostics) = DeclaredVendor.load(try Places.text(ofShipped: name), file: name)
        #expect(vendor?.registration.missingFacts.isEmpty == false)
        #expect(diagnostics.contains { $0.severity == .warning && $0.place.line > 1 })
    }
}
