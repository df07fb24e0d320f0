import AdapterKit
import Foundation
import JOSE
import Keyring

/// A folder that is gone after the test.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "WorkerTests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A ring of one shared secret, as a worker finds it on disk.
enum KeyRings {
    /// Makes `folder` a ring with one new active version, in place of what it was.
    @discardableResult
    static func make(_ folder: String, version: String = "k1", algorithm: Algorithm = .hs256) throws -> SigningKey {
        try? FileManager.default.removeItem(atPath: "\(folder)/keyring.json")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let key = try SigningKey.generate(algorithm, keyID: version)
        try KeyRingDirectory(path: folder).create(
            key, id: version, secretEncoding: .hex, at: UnixTime(seconds: 1_800_000_000))
        return key
    }
}
