import Foundation
import JOSE
import Testing

@testable import Keyring

@Suite("The audit log of a key ring")
struct AuditTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    private static func ring() throws -> RingFolder {
        let ring = try RingFolder()
        for id in ["a", "b"] {
            var editor = try KeyRingEditor(ring.directory)
            try editor.add(SigningKey.generate(.hs256), id: id, at: time)
        }
        return ring
    }

    @Test func `a change is intended before it is made`() throws {
        let ring = try Self.ring()
        let before = try ring.read("keyring.json")
        let promote = { (disk: Disk) throws in
            var editor = try KeyRingEditor(ring.directory, disk, now: { Self.time })
            try editor.change { listing throws(KeyRingError) in try listing.promote("b", at: Self.time) }
        }
        // The log's own place is none, so the first rename is the listing's.
        #expect(throws: KeyRingError.self) { try promote(Faults(.crash, at: .place, times: 9).disk) }
        #expect(try ring.read("keyring.json") == before)
        let last = try #require(try ring.read("audit.log").split(separator: "\n").last)
        #expect(last.contains(#""stage":"intent","action":"promote","version":"b""#))
        #expect(last.contains(#""detail":"a: active to passive, b: prepared to active""#))
    }

    @Test func `a change that failed is logged as failed`() throws {
        let ring = try Self.ring()
        var editor = try KeyRingEditor(
            ring.directory, Faults(.failure(ENOSPC), at: .place, times: 1).disk, now: { Self.time })
        let error = #expect(throws: KeyRingError.self) {
            try editor.change { listing throws(KeyRingError) in try listing.revoke("b") }
        }
        #expect(error?.message.contains("No space left on device") == true)
        let last = try #require(try ring.read("audit.log").split(separator: "\n").last)
        #expect(last.contains(#""stage":"failed","action":"revoke","version":"b""#))
    }

    @Test func `no change is made where the log cannot be written`() throws {
        let ring = try Self.ring()
        try FileManager.default.removeItem(atPath: ring.path("audit.log"))
        try FileManager.default.createDirectory(atPath: ring.path("audit.log"), withIntermediateDirectories: false)
        let before = try (ring.names(), ring.read("keyring.json"))
        var editor = try KeyRingEditor(ring.directory)
        for change in 0..<2 {
            let error = #expect(throws: KeyRingError.self) {
                if change == 0 {
                    try editor.add(SigningKey.generate(.hs256), id: "c", at: Self.time)
                } else {
                    try editor.change { listing throws(KeyRingError) in try listing.promote("b", at: Self.time) }
                }
            }
            #expect(error?.file == ring.path("audit.log"))
            #expect(error?.message.hasSuffix("Nothing was changed") == true)
        }
        #expect(try ring.names() == before.0)
        #expect(try ring.read("keyring.json") == before.1)
    }

    @Test func `a line that a full disk cut stays on a line of its own`() throws {
        let ring = try Self.ring()
        try ring.write(#"{"time":"2026-"#, to: "audit.log")
        try AuditLog(ring.directory).append("promote", version: "b", at: Self.time)
        let lines = try ring.read("audit.log").split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == #"{"time":"2026-"# && lines[1].hasSuffix("}"))
    }

    @Test(.enabled(if: geteuid() == 0)) func `files that root makes in a ring belong to the folder's owner`() throws {
        let ring = try RingFolder()
        try #require(chown(ring.url.path, 12_345, 23_456) == 0)
        do {
            var editor = try KeyRingEditor(ring.directory)
            try editor.add(SigningKey.generate(.hs256), id: "a", at: Self.time)
        }
        for name in ["keyring.lock", "audit.log", "keyring.json", "a.secret"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: ring.path(name))
            #expect(attributes[.ownerAccountID] as? Int == 12_345, "\(name)")
            #expect(attributes[.groupOwnerAccountID] as? Int == 23_456, "\(name)")
        }
    }

    /// Whoever may write the folder could give any file of root's a second name there.
    @Test(.enabled(if: geteuid() == 0)) func `root gives away no file with a second name`() throws {
        let ring = try RingFolder()
        try ring.write("", to: "roots")
        try #require(chown(ring.url.path, 12_345, 23_456) == 0)
        try #require(link(ring.path("roots"), ring.path("keyring.lock")) == 0)
        _ = try KeyRingEditor(ring.directory).listing
        let attributes = try FileManager.default.attributesOfItem(atPath: ring.path("roots"))
        #expect(attributes[.ownerAccountID] as? Int == 0)
    }
}
