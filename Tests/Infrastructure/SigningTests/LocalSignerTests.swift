import AdapterKit
import Foundation
import JOSE
import Keyring
import Pipeline
import Signing
import Testing
import WorkerTestSupport

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
    func `a mixed batch is signed in its order by any number of lanes`(lanes: Int, count: Int) async throws {
        let algorithms: [Algorithm] = [.es256, .hs256, .eddsa, .hs512]
        let rings = try rings(algorithms)
        let signer = LocalSigner(rings, lanes: lanes)
        let requests = try (0..<count).map { try request(signer, algorithms[$0 % algorithms.count].rawValue, $0) }
        let signatures = await signer.sign(requests, urgency: .live)
        #expect(signatures.count == count)
        for ((index, request), signature) in zip(requests.enumerated(), signatures) {
            let ring = try #require(rings.first { $0.name == request.key.ring })
            let key = try #require(ring.verificationKeys.first)
            #expect(key.isValid(try signature.get(), of: request.input.bytes), "request \(index)")
        }
    }

    @Test func `a key the signer does not have is refused, and no other key signs`() async throws {
        let signer = LocalSigner(try rings([.hs256]), lanes: 2)
        #expect(signer.activeKey(of: "other") == nil)
        let stranger = SigningKeyReference(
            ring: "HS256", version: "k2", keyID: "k2", algorithm: .hs256, retireAfter: nil)
        let input = SigningInput(encodedHeader: [], payload: [])
        let results = await signer.sign(
            [SigningRequest(key: stranger, input: input), try request(signer, "HS256", 1)], urgency: .live)
        #expect(throws: Rejection(.keyUnavailable, "the version k2 of HS256 does not sign any more")) {
            try results[0].get()
        }
        #expect(throws: Never.self) { try results[1].get() }
    }

    /// The ring `name` with one active version, and that version's key.
    private func ring(_ name: String, version: String) throws -> (ring: KeyRing, key: SigningKey) {
        let folder = try TemporaryFolder()
        let key = try KeyRings.make(folder.path, version: version)
        return (try KeyRingDirectory(path: folder.path).load(name: name), key)
    }

    private func isSigned(_ signature: Result<[UInt8], Rejection>?, by key: SigningKey, _ request: SigningRequest)
        throws
        -> Bool
    {
        let secret = try #require(key.secret)
        return try VerificationKey(secret: secret, algorithm: .hs256).isValid(
            try #require(signature).get(), of: request.input.bytes)
    }

    @Test(arguments: [1, 3]) func `a signer switches to another version, and signs earlier requests with the old one`(
        lanes: Int
    )
        async throws
    {
        let (old, oldKey) = try ring("r", version: "k1"), (new, newKey) = try ring("r", version: "k2")
        let signer = LocalSigner([old], lanes: lanes)
        let before = try (0..<20).map { try request(signer, "r", $0) }
        await signer.replace(new)
        #expect(signer.activeKey(of: "r")?.version == "k2")
        let after = try (0..<20).map { try request(signer, "r", $0) }
        let signatures = await signer.sign(before + after, urgency: .live)
        for (request, signature) in zip(before, signatures) { #expect(try isSigned(signature, by: oldKey, request)) }
        for (request, signature) in zip(after, signatures.dropFirst(20)) {
            #expect(try isSigned(signature, by: newKey, request))
        }
        // Two versions later it signs no more: the event is decided on anew.
        let (third, _) = try ring("r", version: "k3")
        await signer.replace(third)
        #expect(await signer.sign(before, urgency: .live).allSatisfy { (try? $0.get()) == nil })
        #expect(await signer.sign(after, urgency: .live).allSatisfy { (try? $0.get()) != nil })
    }

    @Test func `the keys' revision changes whenever a ring is replaced`() async throws {
        let signer = LocalSigner([try ring("r", version: "k1").ring], lanes: 1)
        var seen = [signer.keysRevision]
        #expect(signer.keysRevision == seen[0])
        // Another key may have the name of the old one.
        for version in ["k2", "k2", "k1"] {
            await signer.replace(try ring("r", version: version).ring)
            #expect(!seen.contains(signer.keysRevision))
            seen.append(signer.keysRevision)
        }
        #expect(!seen.contains(nil))
    }

    @Test func `a revoked key signs nothing more, not even what was asked for before`() async throws {
        let folder = try TemporaryFolder()
        try KeyRings.make(folder.path)
        let directory = KeyRingDirectory(path: folder.path)
        let signer = LocalSigner([try directory.load(name: "r")], lanes: 2)
        let before = try request(signer, "r", 0)
        var editor = try KeyRingEditor(directory)
        try editor.change { listing throws(KeyRingError) in try listing.revoke("k1") }
        await signer.replace(try directory.load(name: "r"))
        #expect(signer.activeKey(of: "r") == nil)
        #expect(await signer.sign([before], urgency: .live).allSatisfy { (try? $0.get()) == nil })
        // Where another one takes its place, that one signs.
        try editor.add(SigningKey.generate(.hs256), id: "k2", at: UnixTime(seconds: 1_800_000_000))
        try editor.change { listing throws(KeyRingError) in
            try listing.promote("k2", at: UnixTime(seconds: 1_800_000_000))
        }
        await signer.replace(try directory.load(name: "r"))
        #expect(signer.activeKey(of: "r")?.version == "k2")
        let after = try request(signer, "r", 1)
        for urgency in [SigningUrgency.live, .background] {
            let results = await signer.sign([before, after], urgency: urgency)
            #expect(results.map { (try? $0.get()) != nil } == [false, true])
        }
    }

    /// A secret that leaked is replaced under its name; its name must not keep it alive.
    @Test func `a signer switches to another key of the same version`() async throws {
        let (old, _) = try ring("r", version: "k1"), (new, newKey) = try ring("r", version: "k1")
        let signer = LocalSigner([old], lanes: 2)
        let first = try request(signer, "r", 0)
        _ = await signer.sign([first, first], urgency: .live)
        await signer.replace(new)
        let request = try request(signer, "r", 1)
        for signature in await signer.sign([request, request], urgency: .live) {
            #expect(try isSigned(signature, by: newKey, request))
        }
    }

    @Test func `a replaced ring does not change the others, and may be a new one`() async throws {
        let (one, oneKey) = try ring("one", version: "k1"), (two, _) = try ring("two", version: "k1")
        let signer = LocalSigner([one], lanes: 2)
        await signer.replace(two)
        #expect(signer.activeKey(of: "two")?.version == "k1")
        let request = try request(signer, "one", 1)
        #expect(try isSigned(await signer.sign([request], urgency: .live).first, by: oneKey, request))
    }

    @Test func `a signer keeps signing while its rings are replaced`() async throws {
        let rings = try (0..<6).map { try ring("r", version: "k\($0)").ring }
        let signer = LocalSigner([rings[0]], lanes: 2)
        let failures = try await withThrowingTaskGroup { group in
            group.addTask {
                var failures = 0
                for number in 0..<300 {
                    let requests = try (0..<4).map { try self.request(signer, "r", number * 4 + $0) }
                    failures += await signer.sign(requests, urgency: .live).count { (try? $0.get()) == nil }
                }
                return failures
            }
            for ring in rings {
                await signer.replace(ring)
                let request = try self.request(signer, "r", 1)
                _ = await signer.sign([request], urgency: .live)
            }
            return try await group.reduce(0, +)
        }
        // What was asked for under the version before the last may fail, and is tried again: one batch each at most.
        #expect(failures <= 4 * rings.count)
    }
}
