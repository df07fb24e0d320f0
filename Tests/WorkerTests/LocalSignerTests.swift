import AdapterKit
import Foundation
import JOSE
import Keyring
import Pipeline
import Testing
import Worker

@Suite struct LocalSignerTests {
    /// Rings with one active key each, on disk and back, as a worker gets them.
    private func rings(_ algorithms: [Algorithm]) throws -> [KeyRing] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "remint-rings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try algorithms.map { algorithm in
            let path = folder.appending(path: algorithm.rawValue).path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let directory = KeyRingDirectory(path: path)
            let key = try SigningKey.generate(algorithm, keyID: "k1")
            try directory.create(key, id: "k1", secretEncoding: .hex, at: UnixTime(seconds: 1_800_000_000))
            return try directory.load(name: algorithm.rawValue)
        }
    }

    private func request(_ signer: LocalSigner, _ ring: String, _ number: Int) throws -> SigningRequest {
        let key = try #require(signer.activeKey(of: ring))
        return SigningRequest(
            key: key, input: SigningInput(encodedHeader: Array("e30".utf8), payload: Array("\(number)".utf8)))
    }

    @Test(arguments: [1, 2, 7], [0, 1, 2, 13, 100])
    func `signs a mixed batch in its order, whatever the number of lanes`(lanes: Int, count: Int) async throws {
        let algorithms: [Algorithm] = [.es256, .hs256, .eddsa, .hs512]
        let rings = try rings(algorithms)
        let signer = LocalSigner(rings, lanes: lanes)
        let requests = try (0..<count).map { try request(signer, algorithms[$0 % algorithms.count].rawValue, $0) }
        let signatures = await signer.sign(requests)
        #expect(signatures.count == count)
        for ((index, request), signature) in zip(requests.enumerated(), signatures) {
            let ring = try #require(rings.first { $0.name == request.key.ring })
            let key = try #require(ring.verificationKeys.first)
            #expect(key.isValid(try signature.get(), of: request.input.bytes), "request \(index)")
        }
    }

    @Test func `refuses a key it does not have instead of signing with another`() async throws {
        let signer = LocalSigner(try rings([.hs256]), lanes: 2)
        #expect(signer.activeKey(of: "other") == nil)
        let stranger = SigningKeyReference(
            ring: "HS256", version: "k2", keyID: "k2", algorithm: .hs256, retireAfter: nil)
        let input = SigningInput(encodedHeader: [], payload: [])
        let results = await signer.sign([SigningRequest(key: stranger, input: input), try request(signer, "HS256", 1)])
        #expect(throws: Rejection(.keyUnavailable, "the version k2 of HS256 does not sign any more")) {
            try results[0].get()
        }
        #expect(throws: Never.self) { try results[1].get() }
    }
}
