import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Operations
import Pipeline
import Testing

/// Events of a vendor whose tokens need members that the edge vouches for.
@Suite struct MissingMemberTests {
    private static let rules = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "DeclaredAdaptersTests/Rules/rooms.yaml")

    private func settle(_ event: String) async throws -> Settlement {
        let text = try String(contentsOf: Self.rules, encoding: .utf8)
        let vendor = try #require(DeclaredVendor.load(text, file: "rooms.yaml").vendor)
        let adapter = try vendor.adapter(settings: Array("{}".utf8))
        let signing = InMemorySigning()
        signing.activate(try SigningKey.generate(adapter.algorithm, keyID: "k"), in: "ring")
        var processor = BatchProcessor(
            apps: [App(name: "shop", adapter: adapter, keyRing: "ring", lifetime: 3600)], signing: signing,
            maximumEventBytes: 1 << 20, admission: AdmissionRules(), random: SeededGenerator(seed: 1),
            now: { TestBench.now })
        return try #require(await processor.process([.sample(event)]).first)
    }

    private static let whole = #""vouched":{"user":"u1","room":{"name":"r1"},"roles":["host"]}"#

    @Test(arguments: [
        #"{"app":"shop","report":{"user":"u1","code":401}}"#,
        #"{"app":"shop","report":{"user":"u1","code":401},"vouched":{"user":"u1"}}"#,
        #"{"app":"shop","report":{"user":"u1","code":401},"vouched":{"user":"u1","room":{}}}"#,
        #"{"app":"shop","report":{"user":"u1","code":401,"vouched":{"room":{},"roles":[]}}}"#,
        #"{"app":"shop","reissue":{"user":"u1"}}"#,
        #"{"app":"shop","reissue":{"user":"u1","room":{},"roles":[]}}"#,
    ])
    func `an event without a required member is dead-lettered`(_ event: String) async throws {
        let settlement = try await settle(event)
        #expect(settlement.outcome == .deadLettered(.missingVouched))
        #expect(settlement.output?.values("remint-error-stage") == ["admit"])
        #expect(settlement.detail?.contains("let the edge write it into \"vouched\"") == true)
    }

    @Test(arguments: [
        #"{"app":"shop","report":{"user":"u1","code":401},\#(whole)}"#,
        #"{"app":"shop","reissue":{"user":"u1"},\#(whole)}"#,
    ])
    func `an event with all required members has a token`(_ event: String) async throws {
        #expect(try await settle(event).outcome == .minted)
    }

    @Test func `a batch job's row is rejected with the missing member`() throws {
        let text = try String(contentsOf: Self.rules, encoding: .utf8)
        let vendor = try #require(DeclaredVendor.load(text, file: "rooms.yaml").vendor)
        let adapter = try vendor.adapter(settings: Array("{}".utf8))
        let error = #expect(throws: UserRow.BadRow.self) {
            try ReissueEvent(
                user: Array(#""u1""#.utf8), app: "shop", adapter: adapter, id: "1", at: UnixTime(seconds: 1))
        }
        #expect(error?.reason.hasPrefix("missing_vouched: the event does not vouch for \"room\"") == true)
    }

    @Test func `an event that calls for no token needs no member`() async throws {
        let skipped = try await settle(#"{"app":"shop","report":{"user":"u1","code":404}}"#)
        #expect(skipped.outcome == .skipped("the room is gone"))
        let refused = try await settle(#"{"app":"shop","report":{"user":"u1","code":500}}"#)
        #expect(refused.outcome == .deadLettered(.notFixableByToken))
    }
}
