import AdapterKit
import Foundation
import JOSE
import Testing

@testable import Keyring
@testable import Operations
@testable import Pipeline

/// A canary's verdict: by the order of arrival and the newest tokens, not by clocks, memory of workers or a single account.
@Suite struct CanaryVerdictTests {
    private static func user(_ number: Int) -> [UInt8] { Array("push/registered=u\(number)".utf8) }

    private static func shop(_ users: Int = 60) throws -> ModelShop { try ModelShop(users: users) }

    private static func stop(_ shop: ModelShop) async -> String {
        let stopped = await #expect(throws: CampaignStopped.self) {
            _ = try await shop.reissue(canary: 1, users: 20)
        }
        return stopped?.description ?? ""
    }

    private static func pass(_ shop: ModelShop, canary: Double = 1) async throws -> [String] {
        var notes: [String] = []
        let result = try await shop.reissue(canary: canary, users: 20) { notes.append($0) }
        guard case .reissued = result else { throw Unexpected() }
        return notes
    }

    /// The users of the canary at hand.
    private static func canary(_ shop: ModelShop) throws -> [[UInt8]] {
        shop.cluster.holders(of: try shop.campaign.load().to).sorted { $0.lexicographicallyPrecedes($1) }
    }

    // MARK: Reports

    @Test(arguments: [600, 0, -5])
    func `refusals of users whose reports come from a clock that is behind pass no canary`(
        _ lag: Int64
    ) async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        shop.cluster.whenWatched = {
            for user in (try? Self.canary(shop)) ?? [] {
                shop.cluster.report(user, at: shop.clock.now().advanced(bySeconds: -lag))
            }
        }
        let reason = await Self.stop(shop)
        for words in [
            "the app push: 20 of 20 canary users asked for another token", "20 of them in reports",
            "clock of who reports may be behind", "remint rotate abort",
        ] {
            #expect(reason.contains(words), "\(reason)")
        }
        let rotation = try shop.campaign.load()
        #expect(rotation.failedApps == ["push"] && rotation.judged.first?.outcome?.askedAgain == 20)
    }

    @Test func `reports of users outside the canary, and from before its answer, are no refusals`() async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        for user in 0..<60 { shop.cluster.report(Self.user(user), at: shop.clock.now()) }
        shop.cluster.whenWatched = {
            let canary = Set((try? Self.canary(shop)) ?? [])
            for user in 0..<60 where !canary.contains(Self.user(user)) {
                shop.cluster.report(Self.user(user), at: shop.clock.now())
            }
        }
        #expect(try await Self.pass(shop).contains { $0.hasPrefix("the canary passed: 20 of 20 answered") })
    }

    @Test func `a canary does not pass where a part of the reports is deleted`() async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        shop.cluster.lost = ["remint.invalidations"]
        let reason = await Self.stop(shop)
        #expect(reason.contains("is unknown: a part of the reports on remint.invalidations was deleted"), "\(reason)")
        // Another watch could not find them either: another canary follows.
        shop.cluster.lost = []
        try shop.campaign.resume()
        #expect(try await Self.pass(shop).contains { $0.hasPrefix("the canary passed: 20 of 20 answered") })
        #expect(shop.cluster.events == 60)
    }

    // MARK: Versions

    @Test(arguments: [true, false]) func `a canary whose users got tokens of the old version again does not pass`(
        _ isReported: Bool
    ) async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        shop.cluster.whenWatched = {
            for (place, user) in ((try? Self.canary(shop)) ?? []).enumerated() {
                shop.cluster.issue(user, "a", eventID: "device-\(place)", isReported: isReported)
            }
        }
        let reason = await Self.stop(shop)
        #expect(
            reason.contains(
                isReported
                    ? "20 of 20 canary users asked for another token"
                    : "20 of 20 canary users got a token of another version than"), "\(reason)")
        #expect(try shop.campaign.load().failedApps == ["push"])
    }

    @Test func `renewals and batch jobs during a watch are no refusals`() async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        shop.cluster.whenWatched = {
            guard let version = try? shop.campaign.load().to else { return }
            for (place, user) in ((try? Self.canary(shop)) ?? []).enumerated() {
                shop.cluster.issue(user, version, eventID: "renewal-\(place)")
            }
        }
        #expect(try await Self.pass(shop).contains { $0.hasPrefix("the canary passed: 20 of 20 answered") })
    }

    // MARK: Watched again

    @Test(arguments: [true, false]) func `compaction erases no refusal of a canary that is watched again`(
        _ isReported: Bool
    ) async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        shop.cluster.unread = 1
        #expect(await Self.stop(shop).contains("1 event of the live lane is unread"))
        let paused = try shop.campaign.load()
        #expect(paused.canary?.answered != nil && Rotation(paused.json) == paused)
        for (place, user) in try Self.canary(shop).prefix(15).enumerated() {
            shop.cluster.issue(user, paused.to, eventID: "device-\(place)", isReported: isReported)
        }
        shop.cluster.compact()
        shop.cluster.unread = 0
        try shop.campaign.resume()
        guard isReported else {
            let notes = try await Self.pass(shop)
            #expect(notes.contains { $0.hasPrefix("the canary passed: 5 of 20 answered, 15 superseded") }, "\(notes)")
            return
        }
        let reason = await Self.stop(shop)
        #expect(reason.hasPrefix("the app push: 15 of 20 canary users asked for another token"), "\(reason)")
        #expect(shop.cluster.events == 20)
    }

    @Test func `reports between two watches of a canary count in the second one`() async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        shop.cluster.unread = 1
        _ = await Self.stop(shop)
        for user in try Self.canary(shop) { shop.cluster.report(user, at: shop.clock.now()) }
        shop.cluster.unread = 0
        try shop.campaign.resume()
        #expect(await Self.stop(shop).contains("20 of 20 canary users asked for another token"))
    }

    @Test func `a canary of an earlier file was not answered as far as is known`() throws {
        var rotation = Rotation(id: "c-1", from: "a", to: "b", at: UnixTime(seconds: 1))
        try rotation.promoted()
        try rotation.reissuing(isCautious: true)
        rotation.began(RotationCanary(firstRow: 0, count: 1, marks: TopicMarks(["t": [1]])))
        #expect(Rotation(rotation.json) == rotation && rotation.canary?.answered == nil)
        rotation.canaryAnswered(at: TopicMarks(["t": [2]]))
        rotation.canaryAnswered(at: TopicMarks(["t": [3]]))
        #expect(Rotation(rotation.json) == rotation && rotation.canary?.answered == TopicMarks(["t": [2]]))
        #expect(Rotation(Array(String(decoding: rotation.json, as: UTF8.self).replacing("[2]", with: "2").utf8)) == nil)
    }

    @Test func `an operator who wants no canary drops the one that is to be watched again`() async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        shop.cluster.unread = 1
        _ = await Self.stop(shop)
        try shop.campaign.resume()
        let notes = try await Self.pass(shop, canary: 0)
        #expect(notes.contains("no canary (--canary 0), although one was not judged yet"), "\(notes)")
        let rotation = try shop.campaign.load()
        #expect(rotation.canary == nil && rotation.passedApps == ["push"] && shop.cluster.events == 60)
        let audit = try String(contentsOfFile: "\(shop.folder)/audit.log", encoding: .utf8)
        #expect(audit.contains("although one was not judged yet"), "\(audit)")
    }

    // MARK: Suspensions

    @Test func `a suspension of the refusing users alone stops no canary`() async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        let version = try shop.campaign.load().to
        shop.cluster.held.apps["push"] = Suspension(
            app: "push", reach: .refusingUsers, since: UnixTime(seconds: 1), users: 1, keyVersion: version)
        #expect(try await Self.pass(shop).contains { $0.hasPrefix("the canary passed: 20 of 20 answered") })
    }

    @Test func `refusals of the canary's users count although only they are suspended`() async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        let version = try shop.campaign.load().to
        shop.cluster.held.apps["push"] = Suspension(
            app: "push", reach: .refusingUsers, since: UnixTime(seconds: 1), users: 2, keyVersion: version)
        shop.cluster.whenWatched = {
            for user in ((try? Self.canary(shop)) ?? []).prefix(2) { shop.cluster.refuse(user, version) }
        }
        #expect(await Self.stop(shop).contains("the vendor rejected 2 of 20 canary tokens"))
    }

    @Test(arguments: [
        (1, "1 user's token of %@ was rejected by the vendor"),
        (8, "8 users' tokens of %@ were rejected by the vendor"),
    ]) func `a suspension of everyone stops a canary that heard of it while it was judged`(
        _ users: Int, _ words: String
    ) async throws {
        let shop = try Self.shop()
        defer { shop.remove() }
        let version = try shop.campaign.load().to
        shop.cluster.held.apps["push"] = Suspension(
            app: "push", since: UnixTime(seconds: 1), users: users, keyVersion: version)
        let reason = await Self.stop(shop)
        #expect(reason.contains(words.replacing("%@", with: version)), "\(reason)")
    }

    private struct Unexpected: Error {}
}
