import AdapterKit
import AsyncTestSupport
import Foundation
import JOSE
import Keyring
import Pipeline
import Testing
import WorkerTestSupport

@testable import Signing

@Suite(.timeLimit(.minutes(5))) struct SignerRoundTripTests {
    @Test(arguments: [Algorithm.rs256, .es256, .hs512, .eddsa])
    func `the client signs over the socket`(algorithm: Algorithm) async throws {
        let bench = try SignerBench([algorithm])
        let key = try #require(bench.keys[algorithm.rawValue])
        try await bench.withServer {
            try await ClientBench.with(bench.socket, [algorithm.rawValue: [algorithm]]) { client in
                await client.signer.waitForKeys(within: patience)
                let active = try #require(client.signer.activeKey(of: algorithm.rawValue))
                #expect(active.version == "k1")
                #expect(active.keyID == "k1")
                #expect(active.algorithm == algorithm)
                let request = try client.request(algorithm.rawValue, "claims")
                let signature = try #require(await client.signer.sign([request], urgency: .live).first).get()
                #expect(key.verificationKey.isValid(signature, of: request.input.bytes))
                #expect(client.problem == nil)
                #expect(client.errors == [])
            }
        }
    }

    @Test(arguments: [SigningUrgency.live, .background])
    func `the order of a batch of many frames and several rings is kept`(urgency: SigningUrgency) async throws {
        let algorithms: [Algorithm] = [.es256, .hs512, .eddsa]
        let bench = try SignerBench(algorithms)
        let keys = bench.keys
        let wanted = Dictionary(uniqueKeysWithValues: algorithms.map { ($0.rawValue, Set([$0])) })
        try await bench.withServer {
            try await ClientBench.with(bench.socket, wanted) { client in
                await client.signer.waitForKeys(within: patience)
                let requests = try (0..<1500).map { try client.request(algorithms[$0 % 3].rawValue, "claims \($0)") }
                #expect(SignerProcess.pieces(of: requests).count > 4)
                let signatures = await client.signer.sign(requests, urgency: urgency)
                #expect(signatures.count == requests.count)
                for (request, signature) in zip(requests, signatures) {
                    let key = try #require(keys[request.key.ring])
                    #expect(key.verificationKey.isValid(try signature.get(), of: request.input.bytes))
                }
            }
        }
    }

    @Test func `the client learns of another key, and refuses signatures of a version that no longer counts`()
        async throws
    {
        let bench = try SignerBench([.es256])
        try await bench.withServer {
            try await ClientBench.with(bench.socket, ["ES256": [.es256]]) { client in
                await client.signer.waitForKeys(within: patience)
                let before = try client.request("ES256", "before")
                let key = try bench.make("ES256", "k2", .es256)
                try await eventually("the other version") { client.signer.activeKey(of: "ES256")?.version == "k2" }
                let after = try client.request("ES256", "after")
                let signature = try #require(await client.signer.sign([after], urgency: .live).first).get()
                #expect(key.verificationKey.isValid(signature, of: after.input.bytes))
                let line = await client.log.line {
                    $0.event == "signer.key-ring-changed" && $0.metadata["remint.key.version"] == "k2"
                }
                #expect(line.metadata["remint.key.ring"] == "ES256")
                // The new listing holds nothing of the old version, so nobody may use its signatures.
                let old = try #require(await client.signer.sign([before], urgency: .live).first)
                #expect(throws: Rejection.self) { try old.get() }
            }
        }
    }

    @Test func `a signer that starts later, and one that starts again, are found`() async throws {
        let bench = try SignerBench([.hs256])
        try await ClientBench.with(bench.socket, ["HS256": [.hs256]]) { client in
            try await eventually("a problem") { client.problem?.contains("start it with: remint signer") == true }
            #expect(client.signer.activeKey(of: "HS256") == nil)
            for _ in 0..<2 {
                try await bench.withServer {
                    try await eventually("the problem's end") { client.problem == nil }
                    _ = try await client.signOne("HS256").get()
                }
                try await eventually("a problem") { client.problem != nil }
                let refused = try await client.signOne("HS256")
                guard case .failure(let rejection) = refused else {
                    Issue.record("signed without a signer")
                    return
                }
                #expect(rejection.code == .keyUnavailable)
            }
            // A problem is shown before it is logged.
            try await eventually("a line for each time") { client.errors.count >= 3 }
            #expect(client.errors.count == 3, "logged once for each time: \(client.errors)")
        }
    }

    @Test func `a token larger than a frame is refused, and those beside it are signed`() async throws {
        let bench = try SignerBench([.hs256])
        try await bench.withServer {
            try await ClientBench.with(bench.socket, ["HS256": [.hs256]]) { client in
                await client.signer.waitForKeys(within: patience)
                let large = SigningRequest(
                    key: try client.request("HS256", "").key,
                    input: SigningInput(
                        encodedHeader: Array("e30".utf8), payload: [UInt8](repeating: 0, count: 13 << 20)))
                let small = try client.request("HS256", "small")
                let results = await client.signer.sign([small, large, small], urgency: .live)
                #expect((try? results[0].get()) != nil)
                #expect((try? results[2].get()) != nil)
                guard case .failure(let rejection) = results[1] else {
                    Issue.record("signed")
                    return
                }
                #expect(rejection.code == .mintFailed)
            }
        }
    }

    @Test func `a batch for local rings and a signer's is signed in its order`() async throws {
        let bench = try SignerBench([.es256, .hs512])
        let keys = bench.keys
        let local = LocalSigner([try bench.ring("HS512")], lanes: 2)
        try await bench.withServer {
            try await ClientBench.with(bench.socket, ["ES256": [.es256]]) { client in
                await client.signer.waitForKeys(within: patience)
                let routed = RoutedSigner(local: local, others: ["ES256": client.signer])
                #expect(routed.activeKey(of: "other") == nil)
                let requests = try (0..<101).map { number in
                    let key = try #require(routed.activeKey(of: number % 3 == 0 ? "HS512" : "ES256"))
                    return SigningRequest(
                        key: key, input: SignerBench.input(key.algorithm, "\(number)"))
                }
                let signatures = await routed.sign(requests, urgency: .live)
                for (request, signature) in zip(requests, signatures) {
                    let key = try #require(keys[request.key.ring])
                    #expect(key.verificationKey.isValid(try signature.get(), of: request.input.bytes))
                }
                #expect(await routed.sign([], urgency: .live).isEmpty)
            }
        }
    }
}
