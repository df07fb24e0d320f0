import AdapterKit
import Foundation
import Testing
import WorkerConfiguration

@testable import Keyring
@testable import Operations

/// A canary that did not pass is never passed by.
@Suite struct FailedCanaryTests {
    @Test(arguments: [ModelCluster.Mood.refuses, .doesNotKnowTheKey])
    func `a campaign stays paused if its canary was rejected and no user is left for another`(
        _ mood: ModelCluster.Mood
    ) async throws {
        let shop = try ModelShop(users: 5)
        defer { shop.remove() }
        shop.cluster.mood = mood
        let rejected = await #expect(throws: CampaignStopped.self) { _ = try await shop.reissue(canary: 100) }
        #expect(rejected?.description.contains("the vendor rejected 5 of 5 canary tokens") == true)
        shop.cluster.mood = .answers
        for _ in 0..<2 {
            try shop.campaign.resume()
            let stopped = await #expect(throws: CampaignStopped.self) { _ = try await shop.reissue(canary: 100) }
            for words in ["no user is left who was in none", "remint rotate abort", "remint rotate reissue --canary 0"]
            {
                #expect(stopped?.description.contains(words) == true, "\(String(describing: stopped))")
            }
            let rotation = try shop.campaign.load()
            #expect(rotation.phase == .canary && rotation.pause != nil && shop.cluster.events == 5)
        }
        await #expect(throws: RotationError.self) { _ = try await shop.reissue(canary: 0) }
        try shop.campaign.resume()
        let result = try await shop.reissue(canary: 0)
        guard case .reissued = result else {
            Issue.record("the operator's word lets the campaign go on")
            return
        }
        #expect(try shop.campaign.load().phase == .reissued)
        let log = try String(contentsOfFile: "\(shop.folder)/audit.log", encoding: .utf8)
        #expect(log.contains("no canary (--canary 0), although 1 did not pass"))
    }

    @Test(arguments: [(12, 20, 12), (40, 20, 20), (40, 1, 1)])
    func `a canary has a least number of users, or everybody where there are fewer`(
        _ users: Int, _ least: Int, _ expected: Int
    ) async throws {
        let shop = try ModelShop(users: users)
        defer { shop.remove() }
        shop.cluster.mood = .refuses
        let stopped = await #expect(throws: CampaignStopped.self) {
            _ = try await shop.reissue(canary: 1, users: least)
        }
        #expect(stopped?.description.contains("rejected \(expected) of \(expected.of("canary token"))") == true)
        #expect(shop.cluster.events == expected)
    }

    @Test(arguments: [0.0, 100]) func `a ring that breaks meanwhile stops the job with its cause`(_ canary: Double)
        async throws
    {
        let shop = try ModelShop(users: 5)
        defer { shop.remove() }
        shop.cluster.between = { [cluster = shop.cluster, listing = shop.directory.listing] in
            if cluster.events > 0 { try? Data("{".utf8).write(to: URL(filePath: listing)) }
        }
        // Without a canary between two batches; with one while it is waited for.
        let wave = canary > 0 ? nil : 2
        let error = await #expect(throws: KeyRingError.self) { _ = try await shop.reissue(canary: canary, wave: wave) }
        #expect(error.map { "\($0)".contains("keyring.json") } == true, "\(String(describing: error))")
        let rotation = try shop.campaign.load()
        let progress = try #require(try shop.campaign.progress(of: rotation))
        #expect(progress.rows == shop.cluster.events && progress.sendingRows == progress.rows)
    }
}
