import Foundation
import JOSE
import Testing

@testable import Keyring

/// Keys of no further use are deleted, and no other.
@Suite struct RemovalTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// A ring of a, which is passive, and b, which signs.
    private static func ring(_ algorithm: Algorithm = .es256) throws -> (ring: RingFolder, key: SigningKey) {
        let ring = try RingFolder()
        let key = try SigningKey.generate(algorithm)
        for id in ["a", "b"] {
            var editor = try KeyRingEditor(ring.directory)
            try editor.add(id == "a" ? key : .generate(algorithm), id: id, at: time)
        }
        try change(ring) { listing throws(KeyRingError) in try listing.promote("b", at: time) }
        return (ring, key)
    }

    private static func change(
        _ ring: RingFolder, _ disk: Disk = .real, _ transition: (inout KeyRingListing) throws(KeyRingError) -> Bool
    ) throws {
        var editor = try KeyRingEditor(ring.directory, disk, now: { time })
        try editor.change(transition)
    }

    private static func retire(_ ring: RingFolder, _ disk: Disk = .real) throws {
        try change(ring, disk) { listing throws(KeyRingError) in try listing.retire("a") }
    }

    private static func remove(_ id: String, _ ring: RingFolder) throws -> [String] {
        var editor = try KeyRingEditor(ring.directory, now: { time })
        return try editor.remove(id)
    }

    @Test(arguments: [Algorithm.rs256, .es256, .eddsa])
    func `a retired version's private key is deleted, and its public key still recognizes tokens`(
        _ algorithm: Algorithm
    ) throws {
        let (ring, key) = try Self.ring(algorithm)
        try Self.retire(ring)
        let text = try ring.read("a.pem")
        #expect(text.contains("BEGIN PUBLIC KEY") && !text.contains("PRIVATE"))
        #expect(try ring.mode(of: "a.pem") == 0o600)
        let retired = try #require(try ring.load().versions.first { $0.id == "a" })
        #expect(try key.isPair(of: retired.retiredKey))
        #expect(try ring.directory.version(holding: key.verificationKey)?.id == "a", "the key cannot be imported again")
    }

    @Test func `a retired shared secret stays until the version is removed`() throws {
        let (ring, key) = try Self.ring(.hs256)
        try Self.retire(ring)
        #expect(try key.isPair(of: try ring.load().versions.first { $0.id == "a" }?.retiredKey))
        #expect(try Self.remove("a", ring) == [])
        #expect(try ring.names() == ["b.secret", "keyring.json"])
        #expect(try ring.load().versions.map(\.id) == ["b"])
    }

    @Test func `a private key that a full disk left is deleted when the deletion is repeated`() throws {
        let (ring, _) = try Self.ring()
        // The disk is full from the step on at which the listing is in place and its folder is on disk.
        var step = 0
        while try ring.directory.readListing().state(of: "a") != .retired {
            try? Self.retire(ring, Faults(.failure(ENOSPC), from: step, through: .max).disk)
            step += 1
        }
        #expect(try ring.directory.readListing().state(of: "a") == .retired)
        #expect(try ring.read("a.pem").contains("PRIVATE"))
        guard case .privateKey = try ring.directory.retiredFile(of: "a") else {
            Issue.record("the private key is not reported")
            return
        }
        try Self.deletePrivateKey(ring)
        guard case .clear = try ring.directory.retiredFile(of: "a") else {
            Issue.record("a deleted private key is reported")
            return
        }
        #expect(try !ring.read("a.pem").contains("PRIVATE"))
    }

    private static func deletePrivateKey(_ ring: RingFolder) throws {
        let editor = try KeyRingEditor(ring.directory)
        try editor.deletePrivateKey(of: "a")
    }

    @Test func `a private key in a file that other accounts can read is deleted`() throws {
        let (ring, _) = try Self.ring()
        try ring.setMode(0o644, of: "a.pem")
        try Self.retire(ring)
        #expect(try !ring.read("a.pem").contains("PRIVATE"))
        #expect(try ring.mode(of: "a.pem") == 0o600)
    }

    @Test(arguments: ["passphrase", "mode", "content"])
    func `a retired key file that cannot be read is reported with its fix, and a missing one is not`(
        _ damage: String
    ) throws {
        let (ring, _) = try Self.ring()
        switch damage {
        case "passphrase":
            let listing = try ring.read("keyring.json").replacing(
                #""file":"a.pem""#, with: #""file":"a.pem","passphrase_file":"a.pass""#)
            try #require(listing.contains("a.pass"), "\(listing)")
            try ring.write(listing, to: "keyring.json", mode: 0o644)
        case "mode": try ring.setMode(0o666, of: "a.pem")
        default: try ring.write("no key", to: "a.pem")
        }
        let before = try ring.read("a.pem")
        try Self.retire(ring)
        let error = try #require(#expect(throws: KeyRingError.self) { try Self.deletePrivateKey(ring) })
        #expect(error.file == ring.path("a.pem"))
        #expect(error.message.contains("may still hold the private key of the retired version \"a\""), "\(error)")
        #expect(error.message.hasSuffix("Fix that, or delete the file"), "\(error)")
        #expect(try ring.read("a.pem") == before)
        try FileManager.default.removeItem(atPath: ring.path("a.pem"))
        try Self.deletePrivateKey(ring)
    }

    @Test func `a retired version's private key in a file that is not the ring's own is reported, and stays`() throws {
        let (ring, _) = try Self.ring()
        let elsewhere = try RingFolder()
        try FileManager.default.moveItem(atPath: ring.path("a.pem"), toPath: elsewhere.path("k.pem"))
        try FileManager.default.createSymbolicLink(
            atPath: ring.path("a.pem"), withDestinationPath: elsewhere.path("k.pem"))
        try Self.retire(ring)
        guard case .elsewhere(let path) = try ring.directory.retiredFile(of: "a") else {
            Issue.record("the file is not reported")
            return
        }
        #expect(path == ring.path("a.pem"))
        #expect(try elsewhere.read("k.pem").contains("PRIVATE"))
    }

    @Test func `a removal keeps a passphrase file that another version names under another path`() throws {
        let (ring, _) = try Self.ring()
        try ring.write("secret", to: "pass")
        let listing = try ring.read("keyring.json")
            .replacing(#""file":"a.pem""#, with: #""file":"a.pem","passphrase_file":"pass""#)
            .replacing(#""file":"b.pem""#, with: #""file":"b.pem","passphrase_file":"./pass""#)
        try #require(listing.contains("./pass"), "\(listing)")
        try ring.write(listing, to: "keyring.json", mode: 0o644)
        try Self.retire(ring)
        #expect(try Self.remove("a", ring) == [ring.path("pass")])
        #expect(try ring.names() == ["b.pem", "keyring.json", "pass"])
    }

    @Test(arguments: ["rotation.json", "rotation-c-1.json", "rotation-c-1.subjects", "reissue.lock", "keyring.lock"])
    func `a removal keeps the files of campaigns and locks, whatever a listing calls them`(_ name: String) throws {
        let (ring, _) = try Self.ring()
        try ring.write("{}", to: name)
        let listing = try ring.read("keyring.json").replacing("a.pem", with: name)
        try ring.write(listing, to: "keyring.json", mode: 0o644)
        try Self.change(ring) { listing throws(KeyRingError) in try listing.revoke("a") }
        #expect(try Self.remove("a", ring) == [ring.path(name)])
        #expect(FileManager.default.fileExists(atPath: ring.path(name)))
    }

    @Test func `a restored listing that uses a version without a private key is refused with the reason`() throws {
        let (ring, _) = try Self.ring()
        let old = try ring.read("keyring.json")
        try Self.retire(ring)
        try AuditLog(ring.directory).append("retire", version: "a", at: Self.time)
        try ring.write(old, to: "keyring.json")
        #expect(try ring.refusal().message.contains("its private key was deleted when the version was retired"))
        // The commands that end it work.
        var editor = try KeyRingEditor(ring.directory)
        try editor.add(.generate(.es256), id: "c", at: Self.time)
        try editor.change { listing throws(KeyRingError) in try listing.promote("c", at: Self.time) }
        try editor.change { listing throws(KeyRingError) in try listing.retire("a") }
        _ = try ring.load()
    }

    @Test func `a version in use is not removed, and neither is the last one of a ring that signs nothing`() throws {
        let (ring, _) = try Self.ring()
        let passive = #expect(throws: KeyRingError.self) { try Self.remove("a", ring) }
        let first = "is passive and cannot be removed; first: remint rotate retire --key-version a"
        #expect(passive?.message.hasSuffix(first) == true)
        let active = #expect(throws: KeyRingError.self) { try Self.remove("b", ring) }
        #expect(active?.message.hasSuffix("first: remint rotate promote --key-version ID") == true)
        try Self.change(ring) { listing throws(KeyRingError) in try listing.revoke("b") }
        let last = #expect(throws: KeyRingError.self) { try Self.remove("b", ring) }
        #expect(last?.message.contains("while no version signs") == true)
        #expect(try ring.names() == ["a.pem", "b.pem", "keyring.json"])
    }

    @Test func `a removal is in the audit log before it begins, and deletes the files that are the version's own`()
        throws
    {
        let (ring, _) = try Self.ring()
        try Self.change(ring) { listing throws(KeyRingError) in try listing.revoke("a") }
        let elsewhere = try RingFolder()
        try FileManager.default.moveItem(atPath: ring.path("a.pem"), toPath: elsewhere.path("a.pem"))
        try FileManager.default.createSymbolicLink(
            atPath: ring.path("a.pem"), withDestinationPath: elsewhere.path("a.pem"))
        #expect(try Self.remove("a", ring) == [ring.path("a.pem")])
        #expect(try elsewhere.names() == ["a.pem"], "a link's target stays")
        let log = try ring.read("audit.log").split(separator: "\n").last ?? ""
        #expect(log.contains(#""stage":"intent","action":"remove","version":"a","detail":"a: revoked, removed""#))
    }

    @Test func `a crash between the file and the listing leaves a ring that loads, and the removal can be repeated`()
        throws
    {
        let (ring, _) = try Self.ring()
        try Self.retire(ring)
        let faults = Faults(.crash, at: .place, times: 1)
        #expect(throws: KeyRingError.self) {
            var editor = try KeyRingEditor(ring.directory, faults.disk, now: { Self.time })
            _ = try editor.remove("a")
        }
        #expect(try ring.names().contains("a.pem") == false)
        #expect(try ring.load().versions.map(\.id) == ["a", "b"])
        _ = try Self.remove("a", ring)
        #expect(try ring.load().versions.map(\.id) == ["b"])
    }

    @Test func `the id of a removed version is not given again`() throws {
        let (ring, _) = try Self.ring()
        try Self.retire(ring)
        _ = try Self.remove("a", ring)
        do {
            let editor = try KeyRingEditor(ring.directory, now: { Self.time })
            let isTaken = editor.listing.isTaken("a")
            #expect(isTaken)
        }
        let error = #expect(throws: KeyRingError.self) {
            var editor = try KeyRingEditor(ring.directory, now: { Self.time })
            try editor.add(.generate(.es256), id: "a", at: Self.time)
        }
        #expect(error?.message == "had a version \"a\", which was removed; choose another id")
    }
}
