import Foundation
import JOSE
import Keyring
import Testing

@Suite struct CreationTests {
    private static let time = UnixTime(seconds: 1_800_000_000)

    @Test(arguments: [Algorithm.rs256, .ps512, .es256, .es384, .es512, .eddsa])
    func `a ring created with a key pair loads again`(_ algorithm: Algorithm) throws {
        let ring = try RingFolder()
        let key = try SigningKey.generate(algorithm)
        try ring.directory.create(key, id: "2026-11", secretEncoding: .hex, at: Self.time)
        let active = try #require(try ring.load().active)
        #expect(active.id == "2026-11")
        #expect(active.algorithm == algorithm)
        #expect(active.secretEncoding == nil)
        #expect(try key.isPair(of: active.verificationKey))
        #expect(try ring.names() == ["2026-11.pem", "keyring.json"])
        #expect(try ring.read("2026-11.pem").hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    }

    @Test(arguments: SecretEncoding.allCases) func `a ring created with a secret loads again`(
        _ encoding: SecretEncoding
    ) throws {
        let ring = try RingFolder()
        let key = try SigningKey(secret: SecretBytes(text: "a secret of text"), algorithm: .hs256)
        try ring.directory.create(key, id: "a", secretEncoding: encoding, at: Self.time)
        let active = try #require(try ring.load().active)
        #expect(active.secretEncoding == encoding)
        #expect(try key.isPair(of: active.verificationKey))
        #expect(try ring.names() == ["a.secret", "keyring.json"])
    }

    @Test func `a secret without a stated encoding is written as base64url`() throws {
        let ring = try RingFolder()
        try ring.directory.create(SigningKey.generate(.hs256), id: "a", secretEncoding: nil, at: Self.time)
        #expect(try ring.load().active?.secretEncoding == .base64url)
    }

    @Test func `every file of a new ring has mode 600`() throws {
        let pairs = try RingFolder()
        try pairs.directory.create(SigningKey.generate(.es256), id: "a", secretEncoding: nil, at: Self.time)
        let secrets = try RingFolder()
        try secrets.directory.create(SigningKey.generate(.hs256), id: "a", secretEncoding: .hex, at: Self.time)
        for ring in [pairs, secrets] {
            for name in try ring.names() { #expect(try ring.mode(of: name) == 0o600, "\(name)") }
        }
    }

    @Test func `a new ring's listing has the version and not the key`() throws {
        let ring = try RingFolder()
        let key = try SigningKey(secret: SecretBytes(text: "letters-and-digits"), algorithm: .hs512)
        try ring.directory.create(key, id: "k_1", secretEncoding: .utf8, at: Self.time)
        let listing = try ring.read("keyring.json")
        #expect(!listing.contains("letters"))
        let entry = try #require(try JSONDocument(parsing: Array(listing.utf8)).root["versions"]?.elements.first)
        #expect(entry.members.map(\.name) == ["id", "state", "algorithm", "file", "encoding", "created", "activated"])
        #expect(entry["id"]?.string == "k_1")
        #expect(entry["created"]?.string == "2027-01-15T08:00:00Z")
        #expect(entry["activated"]?.string == "2027-01-15T08:00:00Z")
        #expect(try ring.load().active?.signingKey?.keyID == "k_1")
    }

    @Test func `the error about a file that cannot be written names it`() throws {
        let ring = try RingFolder()
        let directory = KeyRingDirectory(path: ring.path("missing"))
        let error = #expect(throws: KeyRingError.self) {
            try directory.create(SigningKey.generate(.hs256), id: "a", secretEncoding: .hex, at: Self.time)
        }
        #expect(error?.file.hasPrefix(ring.path("missing/")) == true)
        #expect(error?.message.contains("No such file") == true)
    }

    @Test func `a file is replaced whole, with nothing left beside it`() throws {
        let ring = try RingFolder()
        try ring.write("old and longer than the new one", to: "s", mode: 0o644)
        try KeyFile.write(SecretBytes(text: "new"), to: ring.path("s"))
        #expect(try ring.read("s") == "new")
        #expect(try ring.mode(of: "s") == 0o600)
        #expect(try ring.names() == ["s"])
    }

    @Test func `a write to a name that is a folder leaves no file behind`() throws {
        let ring = try RingFolder()
        try FileManager.default.createDirectory(
            at: ring.url.appending(path: "s/inner"), withIntermediateDirectories: true)
        #expect(throws: KeyRingError.self) { try KeyFile.write(SecretBytes(text: "new"), to: ring.path("s")) }
        #expect(try ring.names() == ["s"])
    }
}
