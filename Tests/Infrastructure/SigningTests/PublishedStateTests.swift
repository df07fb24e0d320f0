import AdapterKit
@_spi(Signing) import JOSE
import Keyring
import Pipeline
import Testing
import WorkerTestSupport

@testable import Signing

/// The states of a ring's versions, as a worker behind a signer knows them.
@Suite struct PublishedStateTests {
    /// A ring with a version in each state, `k1` revoked up to `k5` prepared.
    private func ring(_ folder: borrowing TemporaryFolder) throws -> KeyRing {
        let time = UnixTime(seconds: 1_800_000_000)
        try KeyRings.make(folder.path, algorithm: .es256)
        let directory = KeyRingDirectory(path: folder.path)
        var editor = try KeyRingEditor(directory)
        for id in ["k2", "k3", "k4", "k5"] {
            try editor.add(try SigningKey.generate(.es256, keyID: id), id: id, at: time)
            guard id != "k5" else { break }
            try editor.change { (listing) throws(KeyRingError) in try listing.promote(id, at: time) }
        }
        try editor.change { (listing) throws(KeyRingError) in try listing.revoke("k1") }
        try editor.change { (listing) throws(KeyRingError) in try listing.retire("k2") }
        return try directory.load(name: "shop")
    }

    private func states(_ keys: [RingKey]) -> [String: TokenSigner] {
        Dictionary(uniqueKeysWithValues: keys.map { ($0.key.keyID ?? "", $0.signer) })
    }

    @Test func `a token is of the same signer, whether its ring is here or behind a signer`() throws {
        let ring = try ring(try TemporaryFolder())
        let trusted = try TrustedRing(PublishedRing(ring), for: [.es256], before: nil)
        let there = trusted.versions.compactMap { id, version -> RingKey? in
            guard case .publicKey(let key) = version.check else { return nil }
            return RingKey(key, version: id, signer: version.signer)
        }
        let expected: [String: TokenSigner] = ["k2": .retired, "k3": .passive, "k4": .active, "k5": .prepared]
        #expect(states(there) == expected)
        #expect(states(ring.versionsToVerify) == expected)
        #expect(trusted.active?.version == "k4")
    }

    @Test func `a signature of a retired version is not accepted`() throws {
        let ring = try ring(try TemporaryFolder())
        let active = try #require(ring.active?.signingKey)
        let input = SignerBench.input(.es256, "text")
        let signature = try Signer(active).sign(input.bytes)
        for (state, isRight) in [(PublishedRing.Version.State.active, true), (.passive, true), (.retired, false)] {
            let published = PublishedRing(
                name: "shop",
                versions: [
                    .init(
                        id: "k4", state: state, algorithm: "ES256", keyID: "k4", retireAfter: nil,
                        publicKeyPEM: try active.verificationKey.publicKeyPEM())
                ])
            let trusted = try TrustedRing(published, for: [.es256], before: nil)
            let key = SigningKeyReference(
                ring: "shop", version: "k4", keyID: "k4", algorithm: .es256, retireAfter: nil)
            #expect(trusted.isRight(signature, for: SigningRequest(key: key, input: input)) == isRight, "\(state)")
        }
    }
}
