import AdapterKit
import Foundation
package import JOSE
import Keyring
import Testing

/// A folder that is gone after the test.
package struct TemporaryFolder: ~Copyable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "WorkerTests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A ring of one shared secret, as a worker finds it on disk.
package enum KeyRings {
    /// Makes `folder` a ring with one new active version, in place of what it was: whoever looks finds one or the other.
    @discardableResult
    package static func make(_ folder: String, version: String = "k1", algorithm: Algorithm = .hs256) throws
        -> SigningKey
    {
        let fresh = try TemporaryFolder()
        let key = try SigningKey.generate(algorithm, keyID: version)
        try KeyRingDirectory(path: fresh.path).create(
            key, id: version, secretEncoding: .hex, at: UnixTime(seconds: 1_800_000_000))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The listing last: the key it names is there then.
        let files = try FileManager.default.contentsOfDirectory(atPath: fresh.path).filter { $0 != "keyring.json" }
        for file in files + ["keyring.json"] {
            try #require(rename("\(fresh.path)/\(file)", "\(folder)/\(file)") == 0)
        }
        return key
    }
}
