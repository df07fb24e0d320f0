import AdapterKit
import Foundation
import JOSE
import Testing

@testable import Keyring
@testable import Operations
@testable import Pipeline

/// Silence passes no canary: workers read whatever devices reported, nothing was held, and enough devices could report
/// a refusal.
@Suite struct CanarySilenceTests {
    private static func user(_ number: Int, _ app: String = "push") -> [UInt8] {
        Array("\(app)/registered=u\(number)".utf8)
    }

    private static func shop(_ users: Int, life: Int64 = 10_800) throws -> ModelShop {
        try ModelShop(CampaignSequenceTests.configuration()) { cluster in
            for user in 0..<users { cluster.issue(Self.user(user), "a", eventID: "first", life: life) }
        }
    }

    private static func stop(_ shop: ModelShop, canary: Double = 1, users: Int = 20) async -> String {
        let stopped = await #expect(throws: CampaignStopped.self) {
            _ = try await shop.reissue(canary: canary, users: users)
        }
        return stopped?.description ?? ""
    }

    // MARK: Unread

    @Test func `a canary does not pass while events of the live lane are unread, and is watched again then`()
        async throws
    {
        let shop = try Self.shop(60)
        defer { shop.remove() }
        shop.cluster.unread = 60
        let reason = await Self.stop(shop)
        for words in [
            "is unknown: 60 events of the live lane are unread", "The campaign is paused", "remint rotate resume",
            "remint rotate abort",
        ] {
            #expect(reason.contains(words), "\(reason)")
        }
        let paused = try shop.campaign.load()
        #expect(paused.pause?.contains("60 events") == true && paused.canary?.hasFailed == false)
        #expect(paused.failedApps.isEmpty && shop.cluster.events == 20)
        // The unread reports are refusals.
        shop.cluster.unread = 0
        for user in 0..<60 where shop.cluster.holders(of: paused.to).contains(Self.user(user)) {
            shop.cluster.refuse(Self.user(user), paused.to)
        }
        try shop.campaign.resume()
        #expect(await Self.stop(shop).contains("the vendor rejected 20 of 20 canary tokens"))
        #expect(shop.cluster.events == 20, "the same canary was watched again")
    }

    @Test func `a canary does not pass while brokers do not show a topic of reports`() async throws {
        let shop = try Self.shop(20)
        defer { shop.remove() }
        shop.cluster.unseen = ["shop.reports"]
        #expect(await Self.stop(shop).contains("brokers do not show shop.reports"))
        shop.cluster.unseen = []
        try shop.campaign.resume()
        guard case .reissued = try await shop.reissue(canary: 1, users: 20) else { throw Unexpected() }
    }

    private static let pause = Suspension(app: "push", cause: .paused, since: UnixTime(seconds: 1))
    private static let rest = LanePause(lane: .live, since: UnixTime(seconds: 1), by: "ann", why: "")
    private static let holds: [(ControlHolds, String)] = [
        (ControlHolds(apps: ["push": pause]), "the app push was paused during the watch"),
        (ControlHolds(lanes: [.live: rest]), "the lane live was paused during the watch"),
        (ControlHolds(apps: ["other": pause]), ""),
    ]

    @Test(arguments: holds, [false, true]) func `a canary does not pass if its app or a lane was held during the watch`(
        _ hold: (holds: ControlHolds, words: String), _ isOver: Bool
    ) async throws {
        let shop = try Self.shop(30)
        defer { shop.remove() }
        if isOver { shop.cluster.wereHeld = hold.holds } else { shop.cluster.held = hold.holds }
        guard !hold.words.isEmpty else {
            // An app of another ring is no matter.
            guard case .reissued = try await shop.reissue(canary: 1, users: 20) else { throw Unexpected() }
            return
        }
        let reason = await Self.stop(shop)
        #expect(reason.contains(hold.words) && shop.cluster.events == 20, "\(reason)")
        shop.cluster.held = ControlHolds()
        shop.cluster.wereHeld = ControlHolds()
        try shop.campaign.resume()
        guard case .reissued = try await shop.reissue(canary: 1, users: 20) else { throw Unexpected() }
        #expect(shop.cluster.events == 30)
    }

    @Test(arguments: [false, true]) func `a suspension of all users that narrowed during a watch counts`(_ isOver: Bool)
    {
        let everyone = Suspension(app: "push", since: UnixTime(seconds: 1), users: 20)
        let narrowed = Suspension(app: "push", reach: .refusingUsers, since: UnixTime(seconds: 2), users: 20)
        var (holds, ended) = (ControlHolds(), ControlHolds())
        let states: [Suspension?] = [everyone, narrowed] + (isOver ? [nil] : [])
        for suspension in states {
            let word = ControlWord.app(ControlRecord(group: "remint", app: "push", suspension: suspension))
            ended.keep(what: word, endsIn: holds)
            holds.take(word)
        }
        #expect(holds.adding(ended).apps == ["push": everyone])
    }

    @Test func `a paused lane is named as what keeps a canary from being answered`() async throws {
        let shop = try Self.shop(30)
        defer { shop.remove() }
        shop.cluster.mood = .silent
        shop.cluster.held.lanes[.bulk] = LanePause(lane: .bulk, since: UnixTime(seconds: 1), by: "ann", why: "")
        let reason = await Self.stop(shop)
        #expect(reason.contains("20 not consumed by any worker; the lane bulk is paused"), "\(reason)")
    }

    // MARK: Refusals in other words

    @Test(arguments: [1, 2, 20]) func `users of a canary who ask for another token count as refusals`(_ count: Int)
        async throws
    {
        let shop = try Self.shop(20)
        defer { shop.remove() }
        shop.cluster.asking = Set((0..<count).map { Self.user($0) })
        guard count > 1 else {
            var notes: [String] = []
            guard case .reissued = try await shop.reissue(canary: 1, users: 20, note: { notes.append($0) }) else {
                throw Unexpected()
            }
            #expect(notes.contains { $0.contains("0 rejected, 1 asked for another token") }, "\(notes)")
            return
        }
        let reason = await Self.stop(shop)
        #expect(reason.hasPrefix("the app push: \(count) of 20 canary users asked for another token"), "\(reason)")
        let rotation = try shop.campaign.load()
        #expect(rotation.failedApps == ["push"] && rotation.judged.first?.outcome?.askedAgain == count)
        #expect(Rotation(rotation.json) == rotation)
    }

    // MARK: Live tokens

    @Test func `a token that ends within the clock tolerance is no canary's, because the clock may be behind`()
        async throws
    {
        let shop = try ModelShop(CampaignSequenceTests.configuration()) { cluster in
            for user in 0..<30 { cluster.issue(Self.user(user), "a", eventID: "first", age: 3600, life: 4000) }
            for user in 30..<60 { cluster.issue(Self.user(user), "a", eventID: "first") }
        }
        defer { shop.remove() }
        for user in 0..<30 { shop.cluster.dormant.insert(Self.user(user)) }
        shop.cluster.mood = .refuses
        let reason = await Self.stop(shop)
        #expect(reason.contains("the vendor rejected 20 of 20 canary tokens"), "\(reason)")
        #expect(try shop.campaign.load().judged.first?.live == 30)
    }

    @Test func `a canary of users whose tokens all end within the clock tolerance is not made`() async throws {
        let shop = try ModelShop(CampaignSequenceTests.configuration()) { cluster in
            for user in 0..<30 { cluster.issue(Self.user(user), "a", eventID: "first", age: 3600, life: 4000) }
        }
        defer { shop.remove() }
        let reason = await Self.stop(shop)
        #expect(
            reason.contains("no user left for a canary holds a live token (30 of the app push")
                && shop.cluster.events == 0,
            "\(reason)")
    }

    @Test func `a clock that is behind the last issue does not make tokens live`() async throws {
        let shop = try ModelShop(CampaignSequenceTests.configuration()) { cluster in
            for user in 0..<30 { cluster.issue(Self.user(user), "a", eventID: "first", age: 5, life: 800) }
            // By the clock of the worker that issued this one, the others ended.
            cluster.issue(Self.user(30), "a", eventID: "first", age: -700, life: 7200)
        }
        defer { shop.remove() }
        shop.cluster.mood = .refuses
        #expect(await Self.stop(shop).contains("the vendor rejected 1 of 1 canary token"))
    }

    private struct Unexpected: Error {}
}
