import Foundation
import JOSE
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Keyring
@testable import Operations

/// The steps of a campaign on a ring of its own.
@Suite struct CampaignRingTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    private final class Shop {
        let folder: TemporaryFolder
        let ring: RingInUse

        init(retireAfter: UnixTime? = nil) throws {
            folder = try TemporaryFolder()
            let path = "\(folder.path)/ring"
            try KeyRings.make(path, version: "a")
            let configuration = try readConfiguration(workerConfiguration(brokers: "127.0.0.1:1", ring: path))
            let key = try #require(configuration.keys.first)
            ring = RingInUse(
                configuration: configuration, ring: key, directory: KeyRingDirectory(path: path),
                now: { CampaignRingTests.time.advanced(bySeconds: 60) })
            var editor = try KeyRingEditor(ring.directory)
            try editor.add(
                SigningKey.generate(.hs256), id: "imp", encoding: .hex, at: CampaignRingTests.time,
                retireAfter: retireAfter, as: "import")
        }

        var campaign: Campaign { Campaign(ring: ring) }
        func state(of id: String) throws -> KeyVersion.State? { try ring.directory.readListing().state(of: id) }
        func setMode(_ mode: Int, of id: String) throws {
            let file = try ring.directory.readListing().version(id).file
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: ring.directory.file(file))
        }
    }

    @Test func `an abort leaves an imported version as it was, and retires a generated one`() throws {
        let shop = try Shop()
        _ = try shop.campaign.prepare("imp", why: nil)
        _ = try shop.campaign.abort()
        #expect(try shop.state(of: "imp") == .prepared)
        let rotation = try shop.campaign.prepare(nil, why: nil)
        try shop.campaign.addMissingKey(of: rotation, rsaBits: 2048)
        _ = try shop.campaign.abort()
        #expect(try shop.state(of: rotation.to) == .retired)
        #expect(try shop.state(of: "imp") == .prepared)
        #expect(try shop.state(of: "a") == .active)
    }

    @Test func `an abort leaves a version that was imported under the campaign's id as it was`() throws {
        let shop = try Shop()
        let rotation = try shop.campaign.prepare(nil, why: nil)
        var editor = try shop.ring.editor()
        try editor.add(
            SigningKey.generate(.hs256), id: rotation.to, encoding: .hex, at: shop.ring.now(), as: "import")
        _ = consume editor
        _ = try shop.campaign.prepare(nil, why: nil)
        try shop.campaign.addMissingKey(of: rotation, rsaBits: 2048)
        _ = try shop.campaign.abort()
        #expect(try shop.state(of: rotation.to) == .prepared)
    }

    @Test func `a revocation is made while a campaign generates its key`() throws {
        let shop = try Shop()
        let rotation = try shop.campaign.prepare(nil, why: nil)
        let error = #expect(throws: RotationError.self) {
            try shop.campaign.addMissingKey(of: rotation) { _, _ in
                _ = try shop.campaign.revoke(try shop.campaign.revocation(of: "a", promoting: nil), why: nil)
                return try SigningKey.generate(.hs256)
            }
        }
        #expect(error?.description.contains("took over") == true, "\(error?.description ?? "")")
        #expect(try shop.state(of: "a") == .revoked && shop.state(of: "imp") == .active)
        #expect(try shop.state(of: rotation.to) == nil)
    }

    @Test func `a campaign knows whether it made its version, also when it is read again`() throws {
        func version(_ id: String) -> ListedVersion {
            ListedVersion(id: id, algorithm: .hs256, file: "b", created: Self.time)
        }
        for isOfOwnKey in [true, false] {
            let rotation = Rotation(id: "new", from: "a", to: "b", at: Self.time, isOfOwnKey: isOfOwnKey)
            #expect(Rotation(rotation.json) == rotation)
            #expect(rotation.hasMade(version("b")) == isOfOwnKey && !rotation.hasMade(version("c")))
        }
    }

    @Test func `no command makes a version sign whose key cannot be used, and none changes anything`() throws {
        let shop = try Shop()
        try shop.setMode(0o644, of: "imp")
        let commands: [() throws -> Void] = [
            { _ = try shop.ring.promote("imp", isForced: true) },
            { _ = try shop.campaign.prepare("imp", why: nil) },
            { _ = try shop.campaign.revoke(try shop.campaign.revocation(of: "a", promoting: "imp"), why: nil) },
        ]
        for command in commands {
            let error = #expect(throws: KeyRingError.self) { try command() }
            #expect(error?.message.contains("chmod 600") == true, "\(error?.message ?? "")")
            #expect(try shop.state(of: "a") == .active)
            #expect(try shop.campaign.loadIfAny() == nil)
        }
        try shop.setMode(0o600, of: "imp")
        _ = try shop.campaign.prepare("imp", why: nil)
        try shop.setMode(0o644, of: "imp")
        #expect(throws: KeyRingError.self) { try shop.campaign.promote(isForced: true) }
        #expect(throws: KeyRingError.self) {
            _ = try shop.campaign.revoke(try shop.campaign.revocation(of: nil, promoting: nil), why: nil)
        }
        #expect(try shop.state(of: "a") == .active)
        try shop.setMode(0o600, of: "imp")
        _ = try shop.campaign.revoke(try shop.campaign.revocation(of: nil, promoting: nil), why: nil)
        #expect(try shop.state(of: "a") == .revoked)
    }

    @Test func `no command makes an expired version sign`() throws {
        let shop = try Shop(retireAfter: Self.time.advanced(bySeconds: 60))
        let commands: [() throws -> Void] = [
            { _ = try shop.ring.promote("imp", isForced: true) },
            { _ = try shop.campaign.prepare("imp", why: nil) },
            { _ = try shop.campaign.revoke(try shop.campaign.revocation(of: "a", promoting: "imp"), why: nil) },
        ]
        for command in commands {
            let error = #expect(throws: KeyRingError.self) { try command() }
            #expect(error?.message.contains("retire_after") == true, "\(error?.message ?? "")")
        }
        #expect(try shop.state(of: "a") == .active)
    }

    @Test func `the ring's change has one name in the audit log`() throws {
        let shop = try Shop()
        _ = try shop.campaign.revoke(try shop.campaign.revocation(of: "a", promoting: "imp"), why: nil)
        let log = try String(contentsOfFile: "\(shop.ring.directory.path)/audit.log", encoding: .utf8)
        var open: String?
        for line in log.split(separator: "\n") {
            let root = try JSONDocument(parsing: Array(line.utf8)).root
            let action = try #require(root["action"]?.string)
            if root["stage"]?.string == "intent" {
                open = action
            } else if let intent = open {
                #expect(action == intent)
                open = nil
            }
        }
        #expect(log.contains(#""revoke""#))
    }

    @Test func `a stopped re-issue fails, with what is left and the next command`() async throws {
        let shop = try Shop()
        _ = try shop.campaign.revoke(try shop.campaign.revocation(of: "a", promoting: "imp"), why: nil)
        let rotation = try shop.campaign.load()
        let cluster = ModelCluster(now: { CampaignRingTests.time.advanced(bySeconds: 60) })
        cluster.issue(Array("push/registered=u1".utf8), "a", eventID: "first")
        let reissue = CampaignReissue(
            campaign: shop.campaign,
            terms: CampaignTerms(
                canary: 0, watch: .zero, answerWithin: .zero, maxRejections: .standard, pace: ReissuePace(rate: nil),
                loading: .zero),
            topics: cluster, display: SilentDisplay(), note: { _ in })
        try shop.campaign.pause(because: "lunch")
        let stopped = try await reissue.stop(of: rotation).description
        #expect(stopped.contains("1 live token of a is left"), "\(stopped)")
        #expect(stopped.contains("it was paused: lunch; go on with: remint rotate resume"), "\(stopped)")
    }
}

private struct SilentDisplay: ProgressDisplay {
    let isShown = false
    mutating func show(_ done: Int, of total: Int, _ note: String) {}
    mutating func clear() {}
}
