import Foundation
import JOSE
import Testing

@testable import Keyring

@Suite("No key is written over")
struct OverwriteTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    /// A ring as people write it by hand: the file is called after the month, the version after the vendor's key.
    private static func handMade() throws -> (ring: RingFolder, key: SigningKey) {
        let ring = try RingFolder()
        let key = try SigningKey.generate(.es256)
        let pem = try #require(try key.privateKeyPEM())
        try ring.write(pem.array, to: "2026-11.pem")
        try ring.list(#"{"id": "vendor-prod-1", "file": "2026-11.pem", "state": "active", "algorithm": "ES256"}"#)
        return (ring, key)
    }

    @Test func `a new version gets a file of its own where its file's name is another version's`() throws {
        let (ring, key) = try Self.handMade()
        do {
            var editor = try KeyRingEditor(ring.directory)
            #expect(editor.listing.isTaken("2026-11"))
            #expect(editor.listing.isTaken("vendor-prod-1"))
            #expect(!editor.listing.isTaken("2026-11.2"))
            try editor.add(SigningKey.generate(.es256), id: "2026-11", at: Self.time)
            try editor.add(SigningKey.generate(.es256), id: "2026-11.2", at: Self.time)
        }
        let loaded = try ring.load()
        #expect(loaded.versions.map(\.id) == ["vendor-prod-1", "2026-11", "2026-11.2"])
        #expect(try key.isPair(of: loaded.active?.verificationKey))
        let files = try ring.directory.readListing().versions.map(\.file)
        #expect(files == ["2026-11.pem", "2026-11.2.pem", "2026-11.2.2.pem"])
    }

    @Test func `a file that appears while a key is written is kept`() throws {
        let ring = try RingFolder()
        try ring.write("another key", to: "k.pem")
        let write = DurableWrite(path: ring.path("k.pem"), mode: 0o600, .new, .real)
        let error = #expect(throws: KeyRingError.self) { try write.write(SecretBytes(text: "new")) }
        #expect(error?.message.contains("exists already and is not replaced") == true)
        #expect(try ring.read("k.pem") == "another key")
        #expect(try ring.names() == ["k.pem"])
    }

    /// FAT and some network file systems have no hard links.
    @Test func `a key is put in place without links, and still replaces nothing`() throws {
        let ring = try RingFolder()
        let disk = Faults(.failure(EPERM), at: .place, times: 1).disk
        try DurableWrite(path: ring.path("k.pem"), mode: 0o600, .new, disk).write(SecretBytes(text: "new"))
        #expect(try ring.read("k.pem") == "new")
        let again = Faults(.failure(EPERM), at: .place, times: 1).disk
        #expect(throws: KeyRingError.self) {
            try DurableWrite(path: ring.path("k.pem"), mode: 0o600, .new, again).write(SecretBytes(text: "newer"))
        }
        #expect(try ring.read("k.pem") == "new")
        #expect(try ring.names() == ["k.pem"])
    }

    @Test(arguments: ["k", "./k", "link"]) func `a ring in which two versions name one file is refused`(
        _ other: String
    ) throws {
        let ring = try RingFolder()
        try ring.write("secret", to: "k")
        try FileManager.default.createSymbolicLink(atPath: ring.path("link"), withDestinationPath: "k")
        try ring.list(
            #"{"id": "a", "file": "k", "state": "active", "algorithm": "HS256", "encoding": "utf8"}"#,
            #"{"id": "b", "file": "\#(other)", "state": "revoked", "algorithm": "HS256", "encoding": "utf8"}"#)
        let error = try ring.refusal()
        #expect(error.place == "3:21")
        #expect(
            error.message
                == #""file": is the file of the version "a" too; give each version a file of its own"#)
        #expect(throws: KeyRingError.self) { _ = try KeyRingEditor(ring.directory).listing }
    }
}
