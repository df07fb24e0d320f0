import AdapterKit
import AsyncTestSupport
import Foundation
import Pipeline
import Testing
import WorkerTestSupport

@testable import Signing

/// Tests of the callers that a signer serves, of its limit for silent connections, and of its log.
@Suite(.timeLimit(.minutes(5))) struct SignerAccessTests {
    private func connected(_ log: RecordingLog) -> Int { log.lines.count { $0.event == "signer.worker-connected" } }

    @Test func `an account that was not named is refused with the reason`() async throws {
        let bench = try SignerBench([.es256])
        let log = RecordingLog()
        try await bench.withServer(logger: log.logger(), allowing: [geteuid() + 1]) {
            for _ in 0..<3 {
                var peer = try await SignerPeer.open(bench.socket)
                #expect(await peer.next() == .closing(.accountNotAllowed))
                #expect(await peer.next() == nil)
            }
            #expect(connected(log) == 0)
            let closed = log.lines.filter { $0.event == "signer.connection-refused" }
            #expect(closed.count == 1, "logged once a minute")
            #expect(closed.first?.metadata["remint.signer.user"] == "\(geteuid())")
            try await ClientBench.with(bench.socket, ["ES256": [.es256]]) { client in
                try await eventually("what is wrong") { client.problem?.contains("--allow-uid") == true }
            }
        }
    }

    @Test func `a connection that asks nothing is closed, and one that asks is not`() async throws {
        let bench = try SignerBench([.hs256])
        let log = RecordingLog()
        let uptime = ManualUptime()
        try await bench.withServer(logger: log.logger(), uptime: uptime) {
            var silent = try await SignerPeer.open(bench.socket)
            var asking = try await SignerPeer.open(bench.socket)
            guard case .keys(1, _) = try await asking.ask(.keysRequest(id: 1)) else {
                Issue.record("no keys")
                return
            }
            try await eventually("both") { connected(log) == 2 }
            await uptime.pass(.seconds(30))
            #expect(await silent.next() == .closing(.idle))
            #expect(await silent.next() == nil)
            guard case .keys(2, _) = try await asking.ask(.keysRequest(id: 2)) else {
                Issue.record("no keys after half a minute")
                return
            }
            // Twice: the signer may note that the answer was delivered after the first.
            for _ in 1...2 { await uptime.pass(.seconds(300)) }
            #expect(await asking.next() == .closing(.idle))
            #expect(await asking.next() == nil)
        }
    }

    @Test func `a hundred silent connections keep nobody out`() async throws {
        let bench = try SignerBench([.hs256])
        let log = RecordingLog()
        try await bench.withServer(logger: log.logger()) {
            var first = try await SignerPeer.open(bench.socket)
            await log.line(event: "signer.worker-connected")
            var others: [SignerPeer] = []
            for _ in 0..<100 { others.append(try await SignerPeer.open(bench.socket)) }
            try await ClientBench.with(bench.socket, ["HS256": [.hs256]]) { client in
                await client.signer.waitForKeys(within: patience)
                _ = try await client.signOne("HS256").get()
            }
            #expect(await first.next() == .closing(.replaced))
            for peer in others { await peer.close() }
        }
    }

    @Test func `a token against the policy is refused by name, and the rest is signed`() async throws {
        var bench = try SignerBench([.hs256])
        bench.policies["HS256"] = SigningPolicy(
            SigningPolicy.any.templates, algorithms: [.hs256], longestLife: .seconds(7200), issuer: "shop")
        let key = try #require(bench.keys["HS256"])
        try await bench.withServer {
            let payloads = [
                #"{"exp":1800003600,"iss":"shop"}"#, #"{"exp":1800007201,"iss":"shop"}"#, #"{"exp":1800003600}"#,
                #"{"iss":"shop"}"#, #"{"exp":1800003600,"iss":"shop","server":true}"#,
            ]
            let inputs = payloads.map { SignerBench.input(#"{"alg":"HS256"}"#, $0).bytes }
            var peer = try await SignerPeer.open(bench.socket)
            let items = inputs.map { SignerFrame.Item(ring: "HS256", version: "k1", algorithm: "HS256", input: $0) }
            guard case .signatures(7, let answers) = try await peer.ask(.signRequest(id: 7, .live, items)) else {
                Issue.record("no answer")
                return
            }
            guard answers.count == 5, case .signature(let signature) = answers[0] else {
                Issue.record("\(answers)")
                return
            }
            #expect(key.verificationKey.isValid(signature, of: inputs[0]))
            #expect(
                answers.dropFirst() == [.refused(.expiry), .refused(.issuer), .refused(.noExpiry), .refused(.template)])
            try await ClientBench.with(bench.socket, ["HS256": [.hs256]]) { client in
                await client.signer.waitForKeys(within: patience)
                guard case .failure(let rejection) = try await client.signOne("HS256") else {
                    Issue.record("signed")
                    return
                }
                #expect(rejection.code == .mintFailed)
                #expect(rejection.detail.contains("its iss is not policy.issuer"))
                #expect(client.problem?.contains("keys.HS256.policy") == true)
            }
        }
    }

    @Test func `one line a minute reports the signatures per account, and one at the end`() async throws {
        let bench = try SignerBench([.hs256, .es256])
        let log = RecordingLog()
        let uptime = ManualUptime()
        try await bench.withServer(logger: log.logger(), uptime: uptime) {
            var peer = try await SignerPeer.open(bench.socket)
            let token = SignerBench.input(.hs256, "one").bytes
            let items = [("HS256", token), ("HS256", token), ("HS256", Array("e30.e30".utf8)), ("nowhere", token)].map {
                SignerFrame.Item(ring: $0.0, version: "k1", algorithm: "HS256", input: $0.1)
            }
            _ = try await peer.ask(.signRequest(id: 1, .live, items))
            await uptime.pass(.seconds(60))
            let line = await log.line(event: "signer.signatures-counted")
            #expect(
                line.metadata == [
                    "remint.key.ring": "HS256", "remint.signer.user": "\(geteuid())", "remint.signatures": "2",
                    "remint.signatures.refused": "1", "remint.signatures.failed": "0",
                ])
            let other = SignerBench.input(.es256, "two").bytes
            _ = try await peer.ask(
                .signRequest(id: 2, .live, [.init(ring: "ES256", version: "k1", algorithm: "ES256", input: other)]))
        }
        let lines = log.lines.filter { $0.event == "signer.signatures-counted" }
        #expect(lines.map { $0.metadata["remint.key.ring"] } == ["HS256", "ES256"])
        #expect(lines.map { $0.metadata["remint.signatures"] } == ["2", "1"])
        #expect(!log.lines.contains { $0.metadata.values.contains { $0.contains("nowhere") } })
    }
}
