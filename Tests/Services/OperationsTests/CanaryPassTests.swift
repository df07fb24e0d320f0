import AdapterKit
import Foundation
import JOSE
import Kafka
import Testing
import WorkerConfiguration

@testable import Keyring
@testable import Operations

/// A pass belongs to an app, and to a canary that was large enough.
@Suite struct CanaryPassTests {
    private static let hidden = HiddenOffsets(
        TopicPartition(topic: "remint.tokens", partition: 0), count: 60, since: nil)

    private static func user(_ app: String, _ number: Int) -> [UInt8] {
        Array("\(app)/registered=u\(number)".utf8)
    }

    private static func shop(_ users: [String: Int]) throws -> ModelShop {
        let apps = Dictionary(uniqueKeysWithValues: users.keys.map { ($0, "push") })
        return try ModelShop(CampaignSequenceTests.configuration(apps)) { cluster in
            for (app, count) in users.sorted(by: { $0.key < $1.key }) {
                for user in 0..<count { cluster.issue(Self.user(app, user), "a", eventID: "first") }
            }
        }
    }

    private static func stop(_ shop: ModelShop, canary: Double = 1) async -> String {
        let stopped = await #expect(throws: CampaignStopped.self) {
            _ = try await shop.reissue(canary: canary, users: 20)
        }
        return stopped?.description ?? ""
    }

    // MARK: Hidden users

    @Test(arguments: [["push": 60], ["push": 20, "shop": 40]])
    func `no canary is made of a part of the ledger`(_ users: [String: Int]) async throws {
        let shop = try Self.shop(users)
        defer { shop.remove() }
        let app = users["shop"] == nil ? "push" : "shop"
        shop.cluster.hidden = { Self.hidden }
        shop.cluster.hiddenUsers = Set((0..<60).map { Self.user(app, $0) })
        let reason = await Self.stop(shop)
        for words in ["60 offsets of remint.tokens lie behind an open transaction", "remint rotate reissue"] {
            #expect(reason.contains(words), "\(reason)")
        }
        let waiting = try shop.campaign.load()
        #expect(waiting.phase == .canary && waiting.passedApps == [] && shop.cluster.events == 0)
        // The transaction ends, and the vendor refuses the app whose users it hid.
        shop.cluster.hidden = { nil }
        shop.cluster.hiddenUsers = []
        shop.cluster.refusing = [app]
        #expect(await Self.stop(shop).hasPrefix("the app \(app): the vendor rejected 20 of 20 canary tokens"))
    }

    @Test func `users who appear behind the canary of other apps have a canary of their own`() async throws {
        let shop = try Self.shop(["push": 30, "shop": 40])
        defer { shop.remove() }
        shop.cluster.hiddenUsers = Set((0..<40).map { Self.user("shop", $0) })
        guard case .reissued = try await shop.reissue(canary: 1, users: 20) else { throw Unexpected() }
        #expect(try shop.campaign.load().passedApps == ["push"] && shop.cluster.events == 30)
        shop.cluster.hiddenUsers = []
        shop.cluster.refusing = ["shop"]
        let reason = await Self.stop(shop)
        #expect(reason.hasPrefix("the app shop: the vendor rejected 20 of 20 canary tokens"), "\(reason)")
        #expect(shop.cluster.events == 50)
        shop.cluster.refusing = []
        try shop.campaign.resume()
        guard case .reissued = try await shop.reissue(canary: 1, users: 20) else { throw Unexpected() }
        let passed = try shop.campaign.load()
        #expect(passed.passedApps == ["push", "shop"] && passed.failedApps.isEmpty && shop.cluster.events == 70)
        #expect(Rotation(passed.json) == passed)
    }

    @Test func `an app that is configured only after the canary has one of its own`() async throws {
        let shop = try Self.shop(["push": 30, "shop": 40])
        defer { shop.remove() }
        let without = try shop.configured(["push": "push"])
        shop.cluster.apps = ["push"]
        guard case .reissued = try await without.reissue(canary: 1, users: 20) else { throw Unexpected() }
        shop.cluster.apps = ["push", "shop"]
        #expect(try shop.campaign.load().passedApps == ["push"] && shop.cluster.events == 30)
        shop.cluster.refusing = ["shop"]
        let reason = await Self.stop(shop)
        #expect(reason.hasPrefix("the app shop: the vendor rejected 20 of 20 canary tokens"), "\(reason)")
        #expect(shop.cluster.events == 50)
    }

    // MARK: Size

    @Test func `a canary that did not pass is followed by none of fewer users`() async throws {
        let shop = try Self.shop(["push": 21])
        defer { shop.remove() }
        shop.cluster.mood = .refuses
        #expect(await Self.stop(shop).contains("the vendor rejected 20 of 20 canary tokens"))
        shop.cluster.mood = .answers
        for canary in [1.0, 0.1, 100] {
            try shop.campaign.resume()
            let reason = await Self.stop(shop, canary: canary)
            for words in ["of the app push 1 user of at least 20", "silence would prove nothing", "--canary 0"] {
                #expect(reason.contains(words), "\(reason)")
            }
            #expect(try shop.campaign.load().failedApps == ["push"] && shop.cluster.events == 20)
        }
        try shop.campaign.resume()
        guard case .reissued = try await shop.reissue(canary: 0) else { throw Unexpected() }
        #expect(try shop.campaign.load().failedApps.isEmpty && shop.cluster.events == 21)
    }

    @Test func `a small canary after one that did not pass is made as large as that one`() async throws {
        let shop = try Self.shop(["push": 60])
        defer { shop.remove() }
        shop.cluster.mood = .refuses
        #expect(await Self.stop(shop).contains("the vendor rejected 20 of 20 canary tokens"))
        shop.cluster.mood = .answers
        try shop.campaign.resume()
        var notes: [String] = []
        let result = try await shop.reissue(canary: 0.1, users: 1, note: { notes.append($0) })
        guard case .reissued = result else { throw Unexpected() }
        #expect(notes.contains { $0.hasPrefix("the canary passed: 20 of 20 answered") }, "\(notes)")
    }

    // MARK: Apps that leave

    @Test func `an app that did not pass and is removed from the configuration holds nobody back`() async throws {
        let shop = try Self.shop(["push": 60, "shop": 40])
        defer { shop.remove() }
        shop.cluster.refusing = ["shop"]
        #expect(await Self.stop(shop).hasPrefix("the app shop: the vendor rejected 20 of 20 canary tokens"))
        let without = try shop.configured(["push": "push"])
        shop.cluster.apps = ["push"]
        try without.campaign.resume()
        _ = try await without.reissue(canary: 1, users: 20)
        let rotation = try shop.campaign.load()
        #expect(rotation.passedApps == ["push"] && rotation.pause == nil && shop.cluster.events == 40 + 40)
        #expect(rotation.failedApps == ["shop"], "once it is back, it needs a canary that passes")
    }

    // MARK: Users who are gone

    @Test func `users that the vendor does not know any more fail no canary and are named at the end`() async throws {
        let shop = try Self.shop(["push": 60])
        defer { shop.remove() }
        shop.cluster.gone = Set((0..<10).map { Self.user("push", $0) })
        var notes: [String] = []
        guard case .reissued = try await shop.reissue(canary: 100, note: { notes.append($0) }) else {
            throw Unexpected()
        }
        #expect(notes.contains { $0.contains("50 of 60 answered") && $0.contains("10 gone at the vendor") }, "\(notes)")
        #expect(
            notes.contains {
                $0.hasPrefix("10 users are gone at the vendor (user_gone): their tokens are not replaced and end by ")
            }, "\(notes)")
        let rotation = try shop.campaign.load()
        #expect(rotation.phase == .reissued && shop.cluster.live("a") == 10)
    }

    @Test func `an app most of whose users are gone passes no canary`() async throws {
        let shop = try Self.shop(["push": 40, "shop": 40])
        defer { shop.remove() }
        shop.cluster.gone = Set((0..<40).map { Self.user("shop", $0) })
        let reason = await Self.stop(shop)
        #expect(reason.contains("20 dead-lettered (user_gone)"), "\(reason)")
        #expect(try shop.campaign.load().failedApps == ["shop"])
    }

    @Test func `a revocation names users who are gone with the end of their tokens, and asks for nothing more`()
        async throws
    {
        let shop = try Self.shop(["push": 20])
        defer { shop.remove() }
        shop.cluster.gone = [Self.user("push", 3)]
        let campaign = shop.campaign
        _ = try campaign.revoke(try campaign.revocation(of: "a", promoting: nil), why: nil)
        let stopped = await #expect(throws: CampaignStopped.self) { _ = try await shop.reissue(canary: 0) }
        let text = stopped?.description ?? ""
        #expect(
            text.contains("1 user is gone at the vendor (user_gone): its token is not replaced and ends by "), "\(text)"
        )
        #expect(!text.contains("ask for them again"), "\(text)")
        #expect(try campaign.load().phase == .reissued)
        shop.clock.advance(20_000)
        guard case .reissued = try await shop.reissue(canary: 0) else { throw Unexpected() }
    }

    private struct Unexpected: Error {}
}
