import AdapterKit
import Foundation
import JOSE
import Testing
import WorkerConfiguration

@testable import Keyring
@testable import Operations

/// A canary that did not pass is never passed by.
@Suite struct FailedCanaryTests {
    @Test(arguments: [ModelCluster.Mood.refuses, .doesNotKnowTheKey])
    func `where a canary was rejected and nobody is left for another, the campaign stays paused`(
        _ mood: ModelCluster.Mood
    ) async throws {
        let shop = try Shop(users: 5)
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
        let shop = try Shop(users: users)
        defer { shop.remove() }
        shop.cluster.mood = .refuses
        let stopped = await #expect(throws: CampaignStopped.self) {
            _ = try await shop.reissue(canary: 1, users: least)
        }
        #expect(stopped?.description.contains("rejected \(expected) of \(expected) canary tokens") == true)
        #expect(shop.cluster.events == expected)
    }

    @Test(arguments: [0.0, 100]) func `a ring that breaks meanwhile stops the job with its cause`(_ canary: Double)
        async throws
    {
        let shop = try Shop(users: 5)
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

/// A ring of two versions, the new one of which signs, and users who hold tokens of the old one.
private struct Shop {
    let folder: String
    let directory: KeyRingDirectory
    let cluster: ModelCluster
    let campaign: Campaign

    init(users: Int) throws {
        let folder = "\(NSTemporaryDirectory())/remint-canary-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let clock = SequenceClock()
        let directory = KeyRingDirectory(path: folder)
        let configuration = try CampaignSequenceTests.configuration()
        let ring = RingInUse(
            configuration: configuration, ring: try #require(configuration.keys.first), directory: directory,
            now: { clock.now() })
        cluster = ModelCluster(now: { clock.now() })
        campaign = Campaign(ring: ring)
        self.folder = folder
        self.directory = directory
        try Self.addFirstKey(ring)
        for user in 0..<users { cluster.issue(Array("push/registered=u\(user)".utf8), "a", eventID: "first") }
        try campaign.addMissingKey(of: try campaign.prepare(nil, why: "yearly"), rsaBits: 2048)
        _ = try campaign.promote(isForced: true)
        cluster.campaign = { (try? RotationFile(directory).load())?.id }
        cluster.signer = { (try? directory.readListing())?.active?.id }
    }

    private static func addFirstKey(_ ring: RingInUse) throws {
        var editor = try KeyRingEditor(ring.directory)
        let key = try KeyGeneration.key(.hs256, encoding: .utf8, rsaBits: 2048, id: "a")
        try editor.add(key, id: "a", encoding: .utf8, at: ring.now(), as: "generate")
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    func reissue(canary: Double, users: Int = 1, wave: Int? = nil) async throws -> CampaignReissue.Result {
        let terms = CampaignTerms(
            canary: canary, canaryUsers: users, watch: .zero, answerWithin: .zero, maxRejections: .standard,
            pace: ReissuePace(rate: nil, wave: wave))
        return try await CampaignReissue(
            campaign: campaign, terms: terms, topics: cluster, display: NoDisplay(), note: { _ in }
        ).run()
    }
}
