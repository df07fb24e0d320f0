import Foundation
import JOSE
import Keyring
import Testing

/// A file's mode and whether such a file may hold a key, and a listing.
struct FileMode: CustomTestStringConvertible {
    let mode: Int
    let isFitForKeys: Bool
    let isFitForListings: Bool

    init(_ mode: Int, keys: Bool, listings: Bool) {
        self.mode = mode
        isFitForKeys = keys
        isFitForListings = listings
    }

    var testDescription: String { String(mode, radix: 8) }
}

@Suite struct FileModeTests {
    private static let isRoot = geteuid() == 0
    private static let modes: [FileMode] = [
        .init(0o400, keys: true, listings: true), .init(0o600, keys: true, listings: true),
        .init(0o700, keys: true, listings: true),
        // A group may read what root hands to it.
        .init(0o440, keys: isRoot, listings: true), .init(0o640, keys: isRoot, listings: true),
        .init(0o644, keys: false, listings: true),
        .init(0o604, keys: false, listings: true), .init(0o444, keys: false, listings: true),
        .init(0o601, keys: false, listings: true),
        .init(0o620, keys: false, listings: false), .init(0o660, keys: false, listings: false),
        .init(0o602, keys: false, listings: false),
        .init(0o666, keys: false, listings: false), .init(0o777, keys: false, listings: false),
    ]

    private func makeRing() throws -> RingFolder {
        let ring = try RingFolder()
        try ring.write("secret", to: "k")
        try ring.list(#"{"id": "a", "file": "k", "state": "active", "algorithm": "HS256", "encoding": "utf8"}"#)
        return ring
    }

    @Test(arguments: modes) func `a key that others can read or change is refused`(_ mode: FileMode) throws {
        let ring = try makeRing()
        try ring.setMode(mode.mode, of: "k")
        guard !mode.isFitForKeys else {
            #expect(try ring.load().active != nil)
            return
        }
        let error = try ring.refusal()
        #expect(error.place == "2:21")
        #expect(error.message.contains("mode \(mode.testDescription)"))
        #expect(error.message.contains("so others than its owner can use it; run: chmod 600 \(ring.path("k"))"))
    }

    @Test(arguments: modes) func `a passphrase that others can read or change is refused`(_ mode: FileMode) throws {
        let ring = try RingFolder()
        try ring.write(SamplePEM.encryptedP256, to: "k")
        try ring.write(SamplePEM.passphrase, to: "p", mode: mode.mode)
        try ring.list(#"{"id": "a", "file": "k", "passphrase_file": "p", "state": "active", "algorithm": "ES256"}"#)
        guard !mode.isFitForKeys else {
            #expect(try ring.load().active != nil)
            return
        }
        #expect(try ring.refusal().message.contains("chmod 600 \(ring.path("p"))"))
    }

    @Test(arguments: modes) func `a listing that others can change is refused`(_ mode: FileMode) throws {
        let ring = try makeRing()
        try ring.setMode(mode.mode, of: "keyring.json")
        guard !mode.isFitForListings else {
            #expect(try ring.load().active != nil)
            return
        }
        let error = try ring.refusal()
        #expect(error.file == ring.path("keyring.json"))
        #expect(error.message.contains("mode \(mode.testDescription)"))
        #expect(error.message.contains("chmod"))
    }

    @Test func `a secret file read by name is under the same rule of modes`() throws {
        let ring = try RingFolder()
        try ring.write("secret\n", to: "s")
        #expect(try KeyFile.read(ring.path("s")).text == "secret\n")
        try ring.setMode(0o644, of: "s")
        #expect(throws: KeyRingError.self) { try KeyFile.read(ring.path("s")) }
        // Those who hand secrets to containers do it by links.
        try FileManager.default.createSymbolicLink(atPath: ring.path("link"), withDestinationPath: "s")
        #expect(throws: KeyRingError.self) { try KeyFile.read(ring.path("link")) }
        try ring.setMode(0o600, of: "s")
        #expect(try KeyFile.read(ring.path("link")).text == "secret\n")
        try ring.write("", to: "empty")
        #expect(try KeyFile.read(ring.path("empty")).count == 0)
        try ring.write([UInt8](repeating: 7, count: 65_536), to: "full")
        #expect(try KeyFile.read(ring.path("full")).count == 65_536)
    }
}
