import Foundation
import JOSE
import Testing

@testable import Keyring

/// A version signs only where the workers can follow.
@Suite struct PromotionTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    private static func ring(_ algorithm: Algorithm = .hs256) throws -> RingFolder {
        let ring = try RingFolder()
        try ring.directory.create(SigningKey.generate(algorithm), id: "a", secretEncoding: .hex, at: time)
        var editor = try KeyRingEditor(ring.directory)
        try editor.add(
            SigningKey.generate(algorithm), id: "b", at: time, retireAfter: time.advanced(bySeconds: 60))
        return ring
    }

    private static func promote(_ ring: RingFolder, after seconds: Int64 = 1) throws {
        var editor = try KeyRingEditor(ring.directory)
        try editor.change { listing throws(KeyRingError) in
            try listing.promote("b", at: time.advanced(bySeconds: seconds))
        }
    }

    @Test func `a version whose key the workers could not load is not promoted, and the remedy is named`() throws {
        for file in ["a", "b"] {
            let ring = try Self.ring()
            let before = try ring.read("keyring.json")
            let name = try ring.directory.readListing().version(file).file
            try ring.setMode(0o644, of: name)
            let error = #expect(throws: KeyRingError.self) { try Self.promote(ring) }
            #expect(error?.message.contains("chmod 600 \(ring.path(name))") == true, "\(error?.message ?? "")")
            #expect(try ring.read("keyring.json") == before)
            try ring.setMode(0o600, of: name)
            try Self.promote(ring)
            #expect(try ring.load().active?.id == "b")
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func `a key of an account other than the folder's is not promoted`() throws {
        let ring = try Self.ring()
        let name = try ring.directory.readListing().version("b").file
        #expect(chown(ring.url.path, 4711, 4711) == 0)
        #expect(chown(ring.path(name), 4712, 4712) == 0)
        #expect(chown(ring.path(try ring.directory.readListing().version("a").file), 4711, 4711) == 0)
        let error = #expect(throws: KeyRingError.self) { try Self.promote(ring) }
        #expect(error?.message.contains("run: chown 4711 \(ring.path(name))") == true, "\(error?.message ?? "")")
        #expect(chown(ring.path(name), 4711, 4711) == 0)
        try Self.promote(ring)
    }

    @Test func `a version is not promoted from its end on`() throws {
        let ring = try Self.ring()
        for seconds in [60, 61] as [Int64] {
            let error = #expect(throws: KeyRingError.self) { try Self.promote(ring, after: seconds) }
            #expect(error?.message.contains("retire_after") == true)
        }
        #expect(try ring.load().active?.id == "a")
        try Self.promote(ring, after: 59)
        #expect(try ring.load().active?.id == "b")
    }

    @Test func `a second key pair of one kid is refused, and a second secret is not`() throws {
        let pairs = try Self.ring(.es256)
        var editor = try KeyRingEditor(pairs.directory)
        let error = #expect(throws: KeyRingError.self) {
            try editor.add(SigningKey.generate(.es256), id: "c", keyID: "a", at: Self.time)
        }
        #expect(error?.message.contains("has the kid \"a\" already") == true)
        try editor.add(SigningKey.generate(.es256), id: "c", keyID: "shop", at: Self.time)
        let other = #expect(throws: KeyRingError.self) {
            try editor.add(SigningKey.generate(.es256), id: "shop", at: Self.time)
        }
        #expect(other?.message.contains("the version \"c\"") == true)
        #expect(editor.listing.repeatedKids.isEmpty)
        let secrets = try Self.ring()
        var another = try KeyRingEditor(secrets.directory)
        try another.add(SigningKey.generate(.hs256), id: "c", keyID: "a", at: Self.time)
        #expect(another.listing.repeatedKids.isEmpty, "some vendors keep the kid when the secret changes")
    }

    @Test func `a ring on disk with one kid twice loads, and is reported`() throws {
        let ring = try Self.ring(.es256)
        let text = try ring.read("keyring.json").replacing(#"{"id":"b","#, with: #"{"id":"b","kid":"a","#)
        try ring.write(text, to: "keyring.json")
        #expect(try ring.load().active?.id == "a")
        let found = try ring.directory.readListing().repeatedKids
        #expect(found.map { [$0.version.id, $0.earlier.id] } == [["b", "a"]])
    }
}
