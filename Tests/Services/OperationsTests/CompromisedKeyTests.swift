import Foundation
import JOSE
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Keyring
@testable import Operations

/// A compromised key under other names, and rings whose files are damaged.
@Suite struct CompromisedKeyTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// Two rings, "push" of the versions a, which signs, and b, and "other" of one version, o.
    private final class Shop {
        let folder: TemporaryFolder
        let configuration: Configuration
        let clock = SequenceClock()

        init() throws {
            folder = try TemporaryFolder()
            let path = folder.path
            try KeyRings.make("\(path)/push", version: "a")
            try KeyRings.make("\(path)/other", version: "o")
            configuration = try readConfiguration(
                workerConfiguration(brokers: "127.0.0.1:1", ring: "\(path)/push")
                    .replacing("/push\" } }", with: "/push\" }, other: { path: \"\(path)/other\" } }"))
        }

        func ring(_ name: String) throws -> RingInUse {
            let key = try #require(configuration.keys.first { $0.name == name })
            return RingInUse(
                configuration: configuration, ring: key, directory: KeyRingDirectory(path: "\(folder.path)/\(name)"),
                now: { [clock] in clock.now() })
        }

        var campaign: Campaign { get throws { Campaign(ring: try ring("push")) } }

        func add(_ id: String, to name: String = "push", _ key: SigningKey? = nil) throws {
            var editor = try ring(name).editor()
            try editor.add(try key ?? .generate(.hs256), id: id, encoding: .hex, at: CompromisedKeyTests.time)
        }

        func state(of id: String, in name: String = "push") throws -> KeyVersion.State? {
            try ring(name).directory.readListing().state(of: id)
        }

        func path(of id: String, in name: String = "push") throws -> String {
            let directory = try ring(name).directory
            return directory.file(try directory.readListing().version(id).file)
        }

        /// Gives `id` the key of `other`, as a hand that copies a file does.
        func copyKey(of other: String, _ ring: String = "push", to id: String, in name: String = "push") throws {
            let text = try Data(contentsOf: URL(filePath: path(of: other, in: ring)))
            let target = try path(of: id, in: name)
            try text.write(to: URL(filePath: target))
            try setMode(0o600, target)
        }

        func setMode(_ mode: Int, _ path: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }

        func revoke(_ version: String?, promoting successor: String? = nil) throws -> Rotation? {
            let campaign = try campaign
            return try campaign.revoke(try campaign.revocation(of: version, promoting: successor), why: nil)
        }
    }

    @Test func `a successor that has the compromised key is refused, and nothing changes`() throws {
        let shop = try Shop()
        try shop.add("b")
        try shop.copyKey(of: "a", to: "b")
        let ring = try shop.ring("push")
        let error = #expect(throws: CompromisedKey.self) { try shop.revoke("a", promoting: "b") }
        #expect(error?.description.contains("remint keys generate --key push") == true)
        #expect(try shop.state(of: "a") == .active)
        #expect(try shop.revoke("a") == nil, "no version of another key is there, so none signs")
        #expect(try shop.state(of: "b") == .prepared && shop.state(of: "a") == .revoked)
        for command in [
            { _ = try ring.promote("b", isForced: true) }, { _ = try shop.revoke("a", promoting: "b") },
        ] as [() throws -> Void] {
            #expect(throws: CompromisedKey.self) { try command() }
        }
        let refusal = #expect(throws: CompromisedKey.self) { try ring.requireRevokedEverywhere("a") }
        #expect(refusal?.description.contains("remint rotate revoke --key push --key-version b") == true)
        _ = try shop.revoke("b")
        try ring.requireRevokedEverywhere("a")
    }

    @Test func `a signer that has the compromised key is revoked first, as the refusal advises`() throws {
        let shop = try Shop()
        try shop.add("b")
        _ = try shop.ring("push").promote("b", isForced: true)
        try shop.copyKey(of: "a", to: "b")
        let error = #expect(throws: CompromisedKey.self) { try shop.revoke("a") }
        let words = "first: remint rotate revoke --key-version b --promote ID"
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        try shop.add("c")
        _ = try shop.revoke("b", promoting: "c")
        _ = try shop.revoke("a")
        #expect(try shop.state(of: "a") == .revoked && shop.state(of: "b") == .revoked)
    }

    @Test(arguments: [false, true])
    func `a revocation names the versions of other rings with the key until they are revoked`(_ isOneFile: Bool) throws
    {
        let shop = try Shop()
        try shop.add("b")
        if isOneFile {
            let listing = try shop.ring("other").directory.listing
            let text = try String(contentsOfFile: listing, encoding: .utf8)
            let file = try shop.ring("other").directory.readListing().version("o").file
            try Data(text.replacing("\"\(file)\"", with: "\"\(try shop.path(of: "a"))\"").utf8)
                .write(to: URL(filePath: listing))
            try shop.setMode(0o600, listing)
        } else {
            try shop.copyKey(of: "a", to: "o", in: "other")
        }
        // Perhaps it leaked because others could read it.
        try shop.setMode(0o644, try shop.path(of: "a"))
        _ = try shop.revoke("a")
        let ring = try shop.ring("push")
        #expect(ring.holders(of: "a")?.map(\.description) == ["o (active) of the ring other"])
        let refusal = #expect(throws: CompromisedKey.self) { try ring.requireRevokedEverywhere("a") }
        #expect(refusal?.description.contains("remint rotate revoke --key other --key-version o") == true)
        #expect(throws: CompromisedKey.self) { try ring.requireRevokedEverywhere() }
        try shop.add("p", to: "other")
        let other = Campaign(ring: try shop.ring("other"))
        _ = try other.revoke(try other.revocation(of: "o", promoting: nil), why: nil)
        try ring.requireRevokedEverywhere()
        #expect(try shop.state(of: "p", in: "other") == .active)
    }

    @Test func `the key of a revoked version is imported into no ring`() throws {
        let shop = try Shop()
        try shop.add("b")
        let directory = try shop.ring("push").directory
        let stored = try #require(try directory.storedKeys().first { $0.version.id == "a" })
        let other = try shop.ring("other")
        try other.requireUncompromised(stored.key)
        #expect(other.holders(of: stored.key).map(\.description) == ["a (active) of the ring push"])
        _ = try shop.revoke("a")
        #expect(throws: CompromisedKey.self) { try other.requireUncompromised(stored.key) }
        try FileManager.default.removeItem(atPath: try shop.path(of: "a"))
        #expect(try shop.ring("push").holders(of: "a") == nil, "the holders of a key that is gone are unknown")
    }

    // MARK: Damage

    @Test(arguments: [false, true]) func `a damaged key of a third version keeps no revocation waiting`(_ isLost: Bool)
        throws
    {
        let shop = try Shop()
        try shop.add("b")
        try shop.add("c")
        _ = try shop.ring("push").promote("c", isForced: true)
        _ = try shop.ring("push").promote("a", isForced: true)
        let file = try shop.path(of: "c")
        if isLost { try FileManager.default.removeItem(atPath: file) } else { try shop.setMode(0o644, file) }
        #expect(throws: KeyRingError.self) { try shop.ring("push").promote("b", isForced: true) }
        let rotation = try shop.revoke("a")
        #expect(rotation?.to == "b")
        #expect(try shop.state(of: "a") == .revoked && shop.state(of: "b") == .active)
        let damaged = try shop.ring("push").damagedKeys
        #expect(damaged.count == 1 && damaged[0].message.contains(file), "\(damaged)")
        // Where the signer does not change, nothing needs a key.
        try shop.setMode(0o644, try shop.path(of: "b"))
        _ = try shop.revoke("c")
        #expect(try shop.state(of: "c") == .revoked && shop.state(of: "b") == .active)
    }

    @Test func `an abort needs the old version's key alone`() throws {
        let shop = try Shop()
        try shop.add("b")
        _ = try shop.campaign.prepare("b", why: nil)
        _ = try shop.campaign.promote(isForced: true)
        let (old, new) = (try shop.path(of: "a"), try shop.path(of: "b"))
        try shop.setMode(0o644, new)
        try shop.setMode(0o644, old)
        #expect(throws: KeyRingError.self) { try shop.campaign.abort() }
        try shop.setMode(0o600, old)
        _ = try shop.campaign.abort()
        #expect(try shop.state(of: "a") == .active && shop.state(of: "b") == .passive)
        #expect(try shop.ring("push").damagedKeys.first?.message.contains(new) == true)
    }

    // MARK: Campaigns

    @Test func `a second rotation is refused while the first is unfinished, with the two ways on`() throws {
        let shop = try Shop()
        let first = try shop.campaign.prepare(nil, why: nil)
        try shop.campaign.addMissingKey(of: first, rsaBits: 2048)
        #expect(try shop.campaign.prepare(nil, why: nil).id == first.id, "what a crash interrupted is repeated")
        _ = try shop.campaign.promote(isForced: true)
        try shop.campaign.step("rotate reissue") { _, rotation in
            try rotation.reissuing(isCautious: false)
            rotation.reissued()
        }
        for version in [nil, first.to] {
            let error = #expect(throws: RotationError.self) { try shop.campaign.prepare(version, why: nil) }
            for words in ["finish it with: remint rotate retire", "remint rotate prepare --key-version ID"] {
                #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
            }
        }
        try shop.add("c")
        #expect(try shop.campaign.prepare("c", why: nil).to == "c")
    }

    @Test func `the lists of users go with their campaigns`() throws {
        let shop = try Shop()
        let folder = try shop.ring("push").directory.path
        func lists() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".subjects") }.sorted()
        }
        func list(_ id: String) throws {
            try KeyFile.write(SecretBytes(copying: "push/ann\n".utf8), to: "\(folder)/rotation-\(id).subjects")
        }
        try list("of-an-earlier-release")
        let first = try shop.campaign.prepare(nil, why: nil)
        try shop.campaign.addMissingKey(of: first, rsaBits: 2048)
        #expect(try lists() == [])
        try list(first.id)
        _ = try shop.campaign.promote(isForced: true)
        #expect(try lists() == ["rotation-\(first.id).subjects"], "the open campaign's is kept")
        let job = try ReissueLock("\(folder)/reissue.lock", at: CompromisedKeyTests.time)
        try shop.campaign.retire(first.id, isForced: true)
        #expect(try lists() == ["rotation-\(first.id).subjects"], "a job may be at work on it")
        withExtendedLifetime(job) {}
        _ = consume job
        let second = try shop.campaign.prepare(nil, why: nil)
        #expect(try lists() == [])
        try list(second.id)
        _ = try shop.campaign.abort()
        #expect(try lists() == [])
    }
}
