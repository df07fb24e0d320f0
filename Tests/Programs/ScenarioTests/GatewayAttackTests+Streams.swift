import AdapterKit
import AsyncTestSupport
import Foundation
@_spi(Signing) import JOSE
import Kafka
import ProgramTestSupport
import Synchronization
import Testing

extension GatewayScenarios.GatewayAttackTests {
    @Test func `streams are bounded by user and by address, and others' streams are opened`() async throws {
        let keys = try AttackKeys()
        let shop = try await Shop.open()
        let worker = try await shop.startWorker()
        let gateway = try await Gateway.start(
            shop, issuer: keys.customers, limits: ["user_streams: 3", "address_streams: 5", "user_rate: 100"],
            more: ["trusted_proxies: [127.0.0.1]"])
        var open: [Int32] = []
        func stream(_ user: String, from address: String) async throws -> Int? {
            let bytes = Array(
                "GET /v1/apps/braze-ios/token/stream HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(address)\r\nAuthorization: Bearer \(try keys.session(user))\r\n\r\n"
                    .utf8)
            let connection = try #require(RawConnection.open(to: gateway.address))
            open.append(connection)
            RawConnection.send(bytes, over: connection)
            let answer = RawConnection.receive(from: connection) { $0.contains("\r\n\r\n") }
            return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }
        var greedy: [Int?] = []
        for _ in 0..<6 { greedy.append(try await stream("greedy", from: "198.51.100.66")) }
        #expect(greedy == [200, 200, 200, 429, 429, 429])
        var crowd: [Int?] = []
        for user in 0..<4 { crowd.append(try await stream("crowd-\(user)", from: "198.51.100.66")) }
        #expect(crowd == [200, 200, 429, 429])
        #expect(try await stream("honest", from: "203.0.113.1") == 200)
        for connection in open { close(connection) }
        await gateway.stop()
        worker.terminate()
        await worker.waitForEnd()
        await shop.close()
    }

    @Test func `a proof needs a nonce of these seconds on every instance, and an old one counts on none`()
        async throws
    {
        let keys = try AttackKeys()
        let shop = try await Shop.open()
        let worker = try await shop.startWorker()
        let secret = shop.folder.appending(path: "nonces")
        try Data("0123456789abcdef0123456789abcdef".utf8).write(to: secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
        let lines = [
            "public_url: https://tokens.example", "proof: dpop", "proof_nonce_secret: \(secret.path)",
        ]
        let first = try await Gateway.start(shop, issuer: keys.customers, more: lines)
        let second = try await Gateway.start(shop, issuer: keys.customers, more: lines)
        let device = try SigningKey.generate(.es256)
        let thumbprint = try JWK.thumbprint(of: device.verificationKey) ?? ""
        let session = try keys.session("ann", ["cnf": #"{"jkt":"\#(thumbprint)"}"#])
        let path = "/v1/apps/braze-ios/token"
        func ask(_ gateway: Gateway, _ nonce: String?) async throws -> (answer: Gateway.Answer, proof: String) {
            let proof = try DeviceProof.make(device, session, "GET", "https://tokens.example\(path)", nonce: nonce)
            return (
                try await gateway.call(path, headers: ["Authorization": "DPoP \(session)", "DPoP": proof]), proof
            )
        }
        for stale in [nil, "x", "AAAAAAAAAAAAAAAAAAAAAAAA"] {
            let refused = try await ask(first, stale).answer
            #expect(refused.status == 401 && refused.headers["dpop-nonce"] != nil)
            #expect(refused.headers["www-authenticate"] == "DPoP error=\"use_dpop_nonce\"")
        }
        let nonce = try #require(try await ask(first, nil).answer.headers["dpop-nonce"])
        // What one instance handed out, another takes; each takes a proof once.
        let (taken, proof) = try await ask(second, nonce)
        #expect(taken.status == 200 && taken.headers["dpop-nonce"] != nil, "\(taken.text)")
        let replayed = try await second.call(path, headers: ["Authorization": "DPoP \(session)", "DPoP": proof])
        #expect(replayed.status == 401 && !replayed.text.contains("eyJ"))
        await first.stop()
        await second.stop()
        worker.terminate()
        await worker.waitForEnd()
        await shop.close()
    }

    @Test func `a proof of possession counts once, for its session, its key and its request`() async throws {
        let shop = try await Shop.open()
        let worker = try await shop.startWorker()
        let gateway = try await Gateway.start(
            shop, more: ["proof: dpop", "public_url: https://tokens.example"])
        let device = try SigningKey.generate(.es256)
        let thief = try SigningKey.generate(.es256)
        let session = try gateway.session(
            "ann", boundTo: try JWK.thumbprint(of: device.verificationKey))
        let path = "/v1/apps/onesignal-shop/token"
        let url = "https://tokens.example\(path)"
        func ask(_ proof: String?) async throws -> Gateway.Answer {
            var headers = ["Authorization": "DPoP \(session)"]
            if let proof { headers["DPoP"] = proof }
            return try await gateway.call(path, headers: headers)
        }
        let good = try DeviceProof.make(device, session, "GET", url)
        #expect(try await ask(good).status == 200)
        let refused = [
            ("replayed", good), ("of another key", try DeviceProof.make(thief, session, "GET", url)),
            ("for another method", try DeviceProof.make(device, session, "POST", url)),
            ("for another URL", try DeviceProof.make(device, session, "GET", url + "/stream")),
            ("for another host", try DeviceProof.make(device, session, "GET", "https://evil.example\(path)")),
            ("for another session", try DeviceProof.make(device, session + "x", "GET", url)), ("none", nil),
        ]
        for (name, proof) in refused {
            let answer = try await ask(proof)
            #expect(answer.status == 401, "\(name): \(answer.text)")
            #expect(
                !answer.text.contains("eyJ") && answer.headers["www-authenticate"] != nil,
                "\(name)")
        }
        // As if it were bound to nothing.
        #expect(try await gateway.call(path, session: session).status == 401)
        #expect(try await ask(try DeviceProof.make(device, session, "GET", url)).status == 200)
        await gateway.stop()
        worker.terminate()
        await worker.waitForEnd()
        await shop.close()
    }
}
