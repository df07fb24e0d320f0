import Foundation
import JOSE
import Keyring
import Operations
import Testing

@Suite struct FreshVersionTests {
    /// A ring made by hand may call a file after a month, and the version otherwise.
    @Test func `a fresh id passes over versions and over files`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fresh-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = UnixTime(seconds: 1_795_132_800)  // 2026-11-20
        let directory = KeyRingDirectory(path: folder.path)
        #expect(try KeyRingEditor(directory).listing.freshID(at: time) == "2026-11")
        for (name, fresh) in [
            ("2026-11.pem", "2026-11.2"), ("2026-11.2.secret", "2026-11.3"), ("2026-11.4.pem", "2026-11.3"),
        ] {
            try KeyFile.write(SecretBytes(copying: "another key".utf8), to: folder.appending(path: name).path)
            #expect(try KeyRingEditor(directory).listing.freshID(at: time) == fresh)
        }
        try directory.create(SigningKey.generate(.hs256), id: "2026-11.3", secretEncoding: .hex, at: time)
        #expect(try KeyRingEditor(directory).listing.freshID(at: time) == "2026-11.5")
    }
}
