import AdapterKit
import Foundation
import JOSE
import Synchronization
import Testing

@testable import Keyring
@testable import Operations

/// A canary hears of every app of its ring, by users whose devices report refusals.
@Suite struct CanaryAppsTests {
    private static func user(_ app: String, _ number: Int) -> [UInt8] {
        Array("\(app)/registered=u\(number)".utf8)
    }

    private static func shop(
        _ apps: [String: String] = ["push": "push"], _ issue: (ModelCluster) -> Void
    ) throws -> ModelShop { try ModelShop(CampaignSequenceTests.configuration(apps), issue) }

    /// The campaign's reason to stop.
    private static func stop(_ shop: ModelShop, canary: Double = 1, users: Int = 20) async -> String {
        let stopped = await #expect(throws: CampaignStopped.self) {
            _ = try await shop.reissue(canary: canary, users: users)
        }
        return stopped?.description ?? ""
    }

    // MARK: Who is asked

    @Test func `users whose token expired are in no canary, so a refusal is heard`() async throws {
        let shop = try Self.shop { cluster in
            for user in 0..<30 {
                // It ended within the clock tolerance: its user is asked for, and is the first whose token ends.
                cluster.issue(Self.user("push", user), "a", eventID: "first", age: 3900, life: 3600)
                cluster.dormant.insert(Self.user("push", user))
            }
            for user in 30..<60 { cluster.issue(Self.user("push", user), "a", eventID: "first") }
        }
        defer { shop.remove() }
        shop.cluster.mood = .refuses
        let reason = await Self.stop(shop)
        #expect(reason.contains("the app push: the vendor rejected 20 of 20 canary tokens"), "\(reason)")
        #expect(shop.cluster.events == 20)
        let judged = try shop.campaign.load().judged
        #expect(
            judged.map(\.description) == [
                "push: 20 of 30 users with a live token, 20 answered, 0 superseded, 20 rejected"
            ])
        // Another canary is of other users, and never of those with an ended token. Ten of them prove less than twenty.
        try shop.campaign.resume()
        let few = await Self.stop(shop)
        #expect(few.contains("of the app push 10 users of at least 20), so silence would prove nothing"), "\(few)")
        #expect(shop.cluster.events == 20)
    }

    @Test
    func `a canary of users without a live token is not made, and the campaign goes on once their tokens do not count`()
        async throws
    {
        let shop = try Self.shop { cluster in
            for user in 0..<5 {
                cluster.issue(Self.user("push", user), "a", eventID: "first", age: 3700, life: 3600)
            }
        }
        defer { shop.remove() }
        let reason = await Self.stop(shop)
        for words in [
            "no user left for a canary holds a live token (5 of the app push", "so silence would prove nothing",
            "The campaign is paused", "remint rotate resume, and remint rotate reissue", "--canary 0",
        ] {
            #expect(reason.contains(words), "\(reason)")
        }
        #expect(shop.cluster.events == 0)
        #expect(try shop.campaign.load().pause?.contains("silence") == true)
        shop.clock.advance(1000)
        try shop.campaign.resume()
        guard case .reissued = try await shop.reissue(canary: 1, users: 20) else {
            Issue.record("nobody holds a token")
            return
        }
        #expect(shop.cluster.events == 0)
    }

    @Test func `a user that live traffic answers while the ledger is read is superseded and stops nothing`()
        async throws
    {
        let shop = try Self.shop { cluster in
            for user in 0..<20 { cluster.issue(Self.user("push", user), "a", eventID: "first") }
        }
        defer { shop.remove() }
        let (cluster, user) = (shop.cluster, Self.user("push", 3))
        let new = try #require(try shop.directory.readListing().active?.id)
        cluster.inBurst = [user]
        cluster.afterList = { cluster.issue(user, new, eventID: "device") }
        var notes: [String] = []
        guard case .reissued = try await shop.reissue(canary: 1, users: 20, note: { notes.append($0) }) else {
            Issue.record("it was paused")
            return
        }
        #expect(
            notes.contains { $0.contains("the canary passed: 19 of 20 answered, 1 superseded, 0 rejected") }, "\(notes)"
        )
    }

    // MARK: Every app

    @Test func `an app that the vendor was not given the key for pauses the campaign by its name`() async throws {
        let shop = try Self.shop(["push": "push", "shop": "push"]) { cluster in
            // The larger app's tokens end first.
            for user in 0..<60 { cluster.issue(Self.user("push", user), "a", eventID: "first", age: 600) }
            for user in 0..<40 { cluster.issue(Self.user("shop", user), "a", eventID: "first") }
        }
        defer { shop.remove() }
        shop.cluster.refusing = ["shop"]
        let reason = await Self.stop(shop)
        #expect(reason.hasPrefix("the app shop: the vendor rejected 20 of 20 canary tokens"), "\(reason)")
        #expect(shop.cluster.events == 40)
        let rotation = try shop.campaign.load()
        #expect(rotation.failedApps == ["shop"] && rotation.judged.map(\.app) == ["push", "shop"])
        #expect(Rotation(rotation.json) == rotation)
        shop.cluster.refusing = []
        try shop.campaign.resume()
        guard case .reissued = try await shop.reissue(canary: 1, users: 20) else { throw Unexpected() }
        let passed = try shop.campaign.load()
        #expect(passed.failedApps.isEmpty && passed.judged.map(\.outcome?.rejected) == [0, 0])
        #expect(shop.cluster.events == 100)
    }

    @Test func `an app that did not pass and has nobody left keeps the campaign paused, although the others pass`()
        async throws
    {
        let shop = try Self.shop(["push": "push", "shop": "push"]) { cluster in
            for user in 0..<60 { cluster.issue(Self.user("push", user), "a", eventID: "first") }
            for user in 0..<5 { cluster.issue(Self.user("shop", user), "a", eventID: "first") }
        }
        defer { shop.remove() }
        shop.cluster.refusing = ["shop"]
        #expect(await Self.stop(shop).hasPrefix("the app shop: the vendor rejected 5 of 5 canary tokens"))
        shop.cluster.refusing = []
        try shop.campaign.resume()
        let reason = await Self.stop(shop)
        for words in ["no canary of the app shop passed", "no user is left who was in none", "--canary 0"] {
            #expect(reason.contains(words), "\(reason)")
        }
        #expect(shop.cluster.events == 45)
        try shop.campaign.resume()
        guard case .reissued = try await shop.reissue(canary: 0) else { throw Unexpected() }
        #expect(shop.cluster.events == 65)
    }

    @Test(arguments: [false, true]) func `users of an app that has another ring by now have a canary too`(
        _ isRefused: Bool
    ) async throws {
        let shop = try Self.shop(["push": "push", "moved": "other"]) { cluster in
            for user in 0..<30 { cluster.issue(Self.user("moved", user), "a", eventID: "first") }
        }
        defer { shop.remove() }
        shop.cluster.homes = ["moved": ("other", "o-1")]
        if isRefused { shop.cluster.refusing = ["moved"] }
        var notes: [String] = []
        do {
            guard case .reissued = try await shop.reissue(canary: 1, users: 20, note: { notes.append($0) }) else {
                throw Unexpected()
            }
            #expect(!isRefused && shop.cluster.holders(of: "o-1").count == 30)
        } catch let stopped as CampaignStopped {
            #expect(isRefused && shop.cluster.events == 20)
            #expect(stopped.description.hasPrefix("the app moved: the vendor rejected 20 of 20"), "\(stopped)")
        }
        #expect(
            notes.first
                == "30 users to ask for, 0 who cannot be asked for; 30 of them are of the app moved, which has another key ring now"
        )
    }

    // MARK: From before

    @Test func `a canary from before apps were judged by themselves goes on as a whole`() async throws {
        let shop = try Self.shop(["push": "push", "shop": "push"]) { cluster in
            for user in 0..<3 { cluster.issue(Self.user("push", user), "a", eventID: "first") }
            for user in 0..<3 { cluster.issue(Self.user("shop", user), "a", eventID: "first") }
        }
        defer { shop.remove() }
        let campaign = shop.campaign
        let marks = try await shop.cluster.ends()
        let rotation = try campaign.step("rotate reissue") { _, rotation in
            try rotation.reissuing(isCautious: true)
            rotation.began(RotationCanary(firstRow: 0, count: 4, marks: marks))
        }
        let files = campaign.files(of: rotation)
        let keys = (0..<3).map { Self.user("push", $0) } + (0..<3).map { Self.user("shop", $0) }
        try LedgerInput.write(keys, to: files.subjects)
        let old = ReissueProgress(campaign: rotation.id, round: 1, input: "ledger of a")
        try Data(
            String(decoding: old.json, as: UTF8.self).replacing("\"finished\"", with: "\"eligible\":6,\"finished\"")
                .utf8
        )
        .write(to: URL(filePath: files.state))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: files.state)
        var notes: [String] = []
        guard case .reissued = try await shop.reissue(canary: 1, users: 20, note: { notes.append($0) }) else {
            throw Unexpected()
        }
        #expect(notes.contains("the canary passed: 4 of 4 answered, 0 superseded, 0 rejected"), "\(notes)")
        #expect(shop.cluster.events == 6 && shop.cluster.violation == nil)
    }

    private struct Unexpected: Error {}
}
