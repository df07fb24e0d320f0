import Foundation
import JOSE
import Testing

@testable import Keyring

@Suite("The folder of a key ring")
struct FolderAccessTests {
    @Test(arguments: [0o700, 0o755, 0o750, 0o711, 0o500]) func `a folder that only its owner writes is accepted`(
        _ mode: UInt32
    ) {
        #expect(FolderAccess(mode: mode, owner: 7, reader: 7, isReadOnly: false).exposure(of: "k") == nil)
        #expect(FolderAccess(mode: mode, owner: 0, reader: 7, isReadOnly: false).exposure(of: "k") == nil)
        #expect(FolderAccess(mode: mode, owner: 7, reader: 0, isReadOnly: false).exposure(of: "k") == nil)
    }

    @Test(arguments: [0o777, 0o1777, 0o770, 0o2775, 0o702, 0o722] as [UInt32])
    func `a folder that others write is refused, unless it is mounted read-only`(_ mode: UInt32) {
        let message = FolderAccess(mode: mode, owner: 7, reader: 7, isReadOnly: false).exposure(of: "keys/shop")
        #expect(message?.hasPrefix("has mode \(String(mode, radix: 8)), so others") == true)
        #expect(message?.hasSuffix("; run: chmod go-w keys/shop") == true)
        #expect(FolderAccess(mode: mode, owner: 0, reader: 7, isReadOnly: true).exposure(of: "keys/shop") == nil)
    }

    @Test func `a folder of another account is refused`() {
        let message = FolderAccess(mode: 0o700, owner: 8, reader: 7, isReadOnly: false).exposure(of: "k")
        #expect(message?.hasSuffix("; run: chown 7 k") == true)
    }

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
