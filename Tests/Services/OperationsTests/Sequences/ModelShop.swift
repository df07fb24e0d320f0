import AdapterKit
import Foundation
import JOSE
import Testing
import WorkerConfiguration

@testable import Keyring
@testable import Operations

/// A ring of two versions, the new one of which signs, and users who hold tokens of the old one.
struct ModelShop {
    let folder: String
    let directory: KeyRingDirectory
    let cluster: ModelCluster
    let campaign: Campaign
    let clock: SequenceClock

    /// A ring whose `users` hold tokens of the version `a`.
    init(users: Int) throws {
        try self.init(CampaignSequenceTests.configuration()) { cluster in
            for user in 0..<users { cluster.issue(Array("push/registered=u\(user)".utf8), "a", eventID: "first") }
        }
    }

    /// A ring of `configuration` whose users get their tokens of the version `a` from `issue`.
    init(_ configuration: Configuration, _ issue: (ModelCluster) -> Void) throws {
        let folder = "\(NSTemporaryDirectory())/remint-canary-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let clock = SequenceClock()
        self.clock = clock
        let directory = KeyRingDirectory(path: folder)
        let ring = RingInUse(
            configuration: configuration, ring: try #require(configuration.keys.first { $0.name == "push" }),
            directory: directory,
            now: { clock.now() })
        cluster = ModelCluster(now: { clock.now() })
        campaign = Campaign(ring: ring)
        self.folder = folder
        self.directory = directory
        try Self.addFirstKey(ring)
        issue(cluster)
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

    private init(_ shop: ModelShop, _ campaign: Campaign) {
        (folder, directory, cluster, clock) = (shop.folder, shop.directory, shop.cluster, shop.clock)
        self.campaign = campaign
    }

    /// The same ring and cluster by a configuration of these apps, by their rings.
    func configured(_ apps: [String: String]) throws -> ModelShop {
        let configuration = try CampaignSequenceTests.configuration(apps)
        let (directory, clock) = (directory, clock)
        let ring = RingInUse(
            configuration: configuration, ring: try #require(configuration.keys.first { $0.name == "push" }),
            directory: directory, now: { clock.now() })
        return ModelShop(self, Campaign(ring: ring))
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    func reissue(
        canary: Double, users: Int = 1, wave: Int? = nil, note: @escaping (String) -> Void = { _ in }
    ) async throws -> CampaignReissue.Result {
        let terms = CampaignTerms(
            canary: canary, canaryUsers: users, watch: .zero, answerWithin: .zero, maxRejections: .standard,
            pace: ReissuePace(rate: nil, wave: wave), loading: .zero)
        return try await CampaignReissue(
            campaign: campaign, terms: terms, topics: cluster, display: NoDisplay(), note: note
        ).run()
    }
}
