import Foundation
import JOSE
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Keyring
@testable import Operations

/// `remint keys remove`, and the private keys that `retire` deletes.
@Suite final class RemovedVersionTests {
    private static let time = UnixTime(seconds: 1_763_640_000)
    private let folder: TemporaryFolder
    private let ring: RingInUse

    /// A ring of a, which signs, and of b, c and the key pair p.
    init() throws {
        folder = try TemporaryFolder()
        let path = "\(folder.path)/push"
        try KeyRings.make(path, version: "a")
        let configuration = try readConfiguration(workerConfiguration(brokers: "127.0.0.1:1", ring: path))
        let key = try #require(configuration.keys.first)
        let clock = SequenceClock()
        ring = RingInUse(
            configuration: configuration, ring: key, directory: KeyRingDirectory(path: path), now: { clock.now() })
        for (id, algorithm) in [("b", .hs256), ("c", .hs256), ("p", .es256)] as [(String, Algorithm)] {
            var editor = try ring.editor()
            try editor.add(.generate(algorithm), id: id, encoding: .hex, at: Self.time)
        }
    }

    private func state(of id: String) throws -> KeyVersion.State? { try ring.directory.readListing().state(of: id) }

    private func revoke(_ id: String) throws {
        var editor = try ring.editor()
        try editor.change { listing throws(KeyRingError) in try listing.revoke(id) }
    }

    private func log() throws -> String { try String(contentsOfFile: ring.audit.path, encoding: .utf8) }

    @Test func `a retired version is removed with its file, and the removal is logged`() throws {
        _ = try ring.retire("b", isForced: true)
        #expect(try ring.remove("b", isForced: true) == [])
        #expect(try state(of: "b") == nil)
        #expect(!KeyFile.exists(ring.directory.file("b.secret")))
        #expect(try log().hasSuffix(#""stage":"done","action":"remove","version":"b","detail":"forced"}"# + "\n"))
    }

    @Test func `a version of an open campaign is not removed`() throws {
        let campaign = Campaign(ring: ring)
        _ = try campaign.prepare("b", why: nil)
        _ = try campaign.promote(isForced: true)
        _ = try campaign.revoke(try campaign.revocation(of: "a", promoting: nil), why: "leaked")
        let open = try campaign.load()
        #expect(!open.phase.isOver)
        let error = #expect(throws: RotationError.self) { try ring.requireRemovable("a") }
        #expect(error?.description.contains("a is part of the open campaign \(open.id)") == true)
        #expect(try state(of: "a") == .revoked)
    }

    @Test func `a revoked version is not removed while another version in use holds its key`() throws {
        let text = try Data(contentsOf: URL(filePath: ring.directory.file("b.secret")))
        try text.write(to: URL(filePath: ring.directory.file("c.secret")))
        try revoke("b")
        #expect(throws: CompromisedKey.self) { try ring.remove("b", isForced: true) }
        try revoke("c")
        _ = try ring.remove("b", isForced: true)
        #expect(try state(of: "b") == nil)
    }

    @Test func `a retirement whose private key stays on a full disk fails, and repeating it completes it`() throws {
        var halfDone = 0
        for step in 0..<40 {
            let shop = try RemovedVersionTests()
            let ring = shop.ring
            let disk = FaultyDisk(.full(step, stays: true), RingWatch(ring.directory.path))
            let full = RingInUse(
                configuration: ring.configuration, ring: ring.ring,
                directory: KeyRingDirectory(path: ring.directory.path, on: disk.disk), now: ring.now)
            var failure: (any Error)?
            do { _ = try full.retire("p", isForced: true) } catch { failure = error }
            let holdsKey = try String(contentsOfFile: ring.directory.file("p.pem"), encoding: .utf8).contains("PRIVATE")
            #expect(failure != nil || !holdsKey, "step \(step) is reported as a success")
            guard holdsKey, try shop.state(of: "p") == .retired else { continue }
            halfDone += 1
            #expect(full.leftKey(of: "p")?.hasSuffix("repeat: remint rotate retire --key push --key-version p") == true)
            #expect(try !shop.log().contains(#""stage":"done","action":"delete private key""#))
            #expect(try !ring.retire("p", isForced: true))
            #expect(ring.leftKey(of: "p") == nil)
        }
        #expect(halfDone > 0)
    }

    @Test func `a retirement whose key file cannot be read fails until the file is deleted`() throws {
        let file = ring.directory.file("p.pem")
        try "no key".write(toFile: file, atomically: false, encoding: .utf8)
        for _ in 0..<2 {
            let error = #expect(throws: KeyRingError.self) { try ring.retire("p", isForced: true) }
            #expect(error?.message.contains("may still hold the private key") == true)
            #expect(try state(of: "p") == .retired)
        }
        try FileManager.default.removeItem(atPath: file)
        #expect(try !ring.retire("p", isForced: true))
    }

    @Test func `a private key that an earlier release left is deleted when the retirement is repeated`() throws {
        let file = URL(filePath: ring.directory.file("p.pem"))
        let key = try Data(contentsOf: file)
        #expect(try ring.retire("p", isForced: true))
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("PRIVATE"))
        try key.write(to: file)
        #expect(try !ring.retire("p", isForced: true))
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("PRIVATE"))
        #expect(try log().hasSuffix(#""stage":"done","action":"delete private key","version":"p"}"# + "\n"))
    }
}
