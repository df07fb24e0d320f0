import JOSE
import Keyring
import Testing
import WorkerTestSupport

@testable import Signing

extension RingUse {
    /// The use of a ring by a vendor of shared secrets.
    static let hs256 = RingUse(vendor: "Dotdigital", algorithm: .hs256, secretEncoding: .hex)
}

@Suite struct RingUseTests {
    private func ring(_ algorithm: Algorithm) throws -> KeyRing {
        let folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/push", algorithm: algorithm)
        return try KeyRingDirectory(path: "\(folder.path)/push").load(name: "push")
    }

    @Test func `a ring of the vendor's kind of key has no misfit`() throws {
        #expect(try RingUse.hs256.misfits(of: ring(.hs256)).isEmpty)
    }

    @Test func `a key of another algorithm is an error`() throws {
        #expect(
            try RingUse.hs256.misfits(of: ring(.es256)) == [
                KeyMisfit(
                    isError: true,
                    message: "the version k1 of push is for ES256, and Dotdigital takes HS256 alone")
            ])
    }

    @Test func `a secret in another encoding is a warning`() throws {
        var use = RingUse.hs256
        use.secretEncoding = .base64
        #expect(
            try use.misfits(of: ring(.hs256)) == [
                KeyMisfit(
                    isError: false,
                    message: "the version k1 of push is written as hex, and Dotdigital shows its secrets as base64")
            ])
    }
}
