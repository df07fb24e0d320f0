import Foundation
import JOSE
import Testing

@testable import Keyring

@Suite("The folder of a key ring")
struct FolderAccessTests {
    @Test func `a ring in a folder of mode 777 is neither read nor changed`() throws {
        let ring = try RingFolder()
        try ring.directory.create(
            SigningKey.generate(.hs256), id: "a", secretEncoding: .hex, at: UnixTime(seconds: 1_800_000_000))
        try #require(chmod(ring.url.path, 0o777) == 0)
        let error = try ring.refusal()
        #expect(error.file == ring.url.path)
        #expect(error.message.hasSuffix("run: chmod go-w \(ring.url.path)"))
        #expect(throws: error) { _ = try KeyRingEditor(ring.directory).listing }
        try #require(chmod(ring.url.path, 0o755) == 0)
        #expect(try ring.load().active?.id == "a")
    }

    @Test func `a ring below a folder of mode 777 is not read`() throws {
        let ring = try RingFolder()
        let directory = KeyRingDirectory(path: ring.path("keys/shop"))
        try directory.makeFolder()
        try directory.create(
            SigningKey.generate(.hs256), id: "a", secretEncoding: .hex, at: UnixTime(seconds: 1_800_000_000))
        try #require(chmod(ring.path("keys"), 0o777) == 0)
        let error = #expect(throws: KeyRingError.self) { try directory.load(name: "shop") }
        #expect(error?.message.hasPrefix("is in \(ring.path("keys")), which has mode 777, so others") == true)
        try #require(chmod(ring.path("keys"), 0o700) == 0)
        #expect(try directory.load(name: "shop").active?.id == "a")
    }

    @Test func `an audit log that others can write is neither believed nor continued`() throws {
        let ring = try RingFolder()
        let (log, time) = (AuditLog(ring.directory), UnixTime(seconds: 1_800_000_000))
        try log.append("revoke", version: "b", at: time)
        #expect(log.exposure == nil)
        #expect(log.endedVersions() == ["b": .revoked])
        try #require(chmod(log.path, 0o666) == 0)
        #expect(log.exposure?.hasSuffix("run: chmod 644 \(log.path)") == true)
        #expect(log.endedVersions().isEmpty)
        #expect(throws: KeyRingError.self) { try log.intend("promote", version: "a", at: time) }
    }

    @Test func `a missing folder is made for its owner alone`() throws {
        let ring = try RingFolder()
        let directory = KeyRingDirectory(path: ring.path("keys/shop"))
        try directory.makeFolder()
        try directory.makeFolder()
        #expect(try ring.mode(of: "keys/shop") == 0o700)
        #expect(try ring.mode(of: "keys") == 0o700)
        try ring.write("", to: "file")
        #expect(throws: KeyRingError.self) { try KeyRingDirectory(path: ring.path("file/shop")).makeFolder() }
    }
}
