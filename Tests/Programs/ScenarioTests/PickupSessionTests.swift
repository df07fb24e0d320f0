import AdapterKit
import AsyncTestSupport
import Foundation
import FoundationNetworking
@_spi(Signing) import JOSE
import Kafka
import ProgramTestSupport
import StubServer
import Synchronization
import Testing

extension GatewayScenarios {
    /// Sessions whose issuer changes its keys, or cannot be reached, and sessions that are bound to a device's key.
    @Suite(.timeLimit(.minutes(5))) struct PickupSessionTests {
        @Test func `keys that change under load refuse nobody honest, and are fetched once per cool-down`() async throws
        {
            let keys = try (1...4).map { try SigningKey.generate(.es256, keyID: "session-\($0)") }
            let issuer = Issuer([keys[0]])
            let server = try await StubServer.start(issuer, now: { UnixTime(microseconds: 0) })
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop, issuer: keys[0], keySet: "\(server.url)/jwks")
            let start = ContinuousClock.now
            let tally = Tally(keys[0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        while let key = tally.key {
                            let session = try gateway.session("user-\(number)", by: key)
                            let answer = try await gateway.call("/v1/apps/onesignal-shop/token", session: session)
                            tally.add(answer.status)
                        }
                    }
                }
                // A stranger's keys are unknown each time.
                group.addTask {
                    var number = 0
                    while tally.key != nil {
                        number += 1
                        let key = try SigningKey.generate(.es256, keyID: "unknown-\(number)")
                        let session = try gateway.session("user-0", by: key)
                        let answer = try await gateway.call("/v1/apps/onesignal-shop/token", session: session)
                        #expect([401, 503].contains(answer.status) && !answer.text.contains("eyJ"))
                    }
                }
                for (index, key) in keys.enumerated() {
                    // The issuer publishes a key before it signs with it, and keeps the one before for sessions that still live.
                    issuer.publish([key] + keys[..<index].suffix(1))
                    tally.sign(with: key)
                    await tally.reached(300)
                }
                tally.stop()
                try await group.waitForAll()
            }
            let seconds = (.now - start) / .seconds(1)
            let counts = tally.counts
            #expect(Set(counts.keys).isSubset(of: [200, 503]), "\(counts)")
            #expect(counts[200] ?? 0 >= 1200)
            #expect(issuer.fetches <= Int(seconds) + 2, "\(issuer.fetches) in \(seconds) s")
            #expect(issuer.fetches >= 4)

            // The issuer is gone: what is known still counts, what is not is "later".
            await server.stop()
            let known = try await gateway.call(
                "/v1/apps/onesignal-shop/token", session: try gateway.session("user-9", by: keys[3]))
            #expect(known.status == 200, "\(known.text)")
            let unknown = try SigningKey.generate(.es256, keyID: "session-9")
            for _ in 0..<3 {
                let answer = try await gateway.call(
                    "/v1/apps/onesignal-shop/token", session: try gateway.session("user-9", by: unknown))
                #expect(answer.status == 503 && answer.headers["retry-after"] != nil, "\(answer.text)")
            }
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `an issuer that withdraws its only key ends its sessions, as readiness and log show`()
            async throws
        {
            let key = try SigningKey.generate(.es256, keyID: "session-1")
            let issuer = Issuer([key])
            let server = try await StubServer.start(issuer, now: { UnixTime(microseconds: 0) })
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let port = try Gateway.freePort()
            let gateway = try await Gateway.start(
                shop, issuer: key, keySet: "\(server.url)/jwks", more: ["metrics: 127.0.0.1:\(port)"])
            let path = "/v1/apps/onesignal-shop/token"
            let session = try gateway.session("ann", by: key)
            #expect(try await gateway.call(path, session: session).status == 200)

            issuer.publish([])
            // A session of a key that is not known has the set fetched again.
            let unknown = try gateway.session("ann", by: try SigningKey.generate(.es256, keyID: "session-9"))
            try await eventually("the refusal of the session") {
                if try await gateway.call(path, session: session).status != 200 { return true }
                _ = try await gateway.call(path, session: unknown)
                return false
            }
            for shown in [session, unknown] {
                let refused = try await gateway.call(path, session: shown)
                #expect(refused.status == 503 && refused.text("code") == "unavailable", "\(refused.text)")
                #expect(refused.headers["retry-after"] != nil)
            }
            let unready = try await gateway.health {
                $0.body?["dependencies"]?["sessions"]?.string == "the session issuer publishes no usable key"
            }
            #expect(unready.status == 503, "\(unready.text)")
            try #require(await gateway.program.logged("session-keys.unusable"))
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/metrics"))
            try await eventually("the metric of the keys") {
                String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self).contains(
                    "remint_pickup_session_keys 0\n")
            }

            issuer.publish([key])
            _ = try await gateway.health { $0.status == 200 }
            #expect(try await gateway.call(path, session: session).status == 200)
            try #require(await gateway.program.logged("session-keys.usable"))
            #expect(gateway.program.logCount("session-keys.unusable") == 1)
            for event in ["session-keys.unavailable", "session-keys.available"] {
                #expect(!gateway.program.hasLogged(event))
            }
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await server.stop()
            await shop.broker.close()
        }

        @Test func `an issuer that stalls makes no call wait longer than it asked to, and two seconds at most`()
            async throws
        {
            let key = try SigningKey.generate(.es256, keyID: "session-1")
            let server = try await StubServer.start(Issuer([key]), now: { UnixTime(microseconds: 0) })
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop, issuer: key, keySet: "\(server.url)/jwks")
            let session = try gateway.session("ann", by: try SigningKey.generate(.es256, keyID: "session-2"))
            server.misbehaviour = .silence
            // The issuer has half a second, or two; the rest is a busy machine's.
            for wait in [0, 30] {
                let before = server.requests.count
                // Until a call came that had the keys fetched.
                try await eventually("the fetch of the keys") {
                    let start = ContinuousClock.now
                    let answer = try await gateway.call("/v1/apps/onesignal-shop/token?wait=\(wait)", session: session)
                    #expect(.now - start < .seconds(8), "wait=\(wait)")
                    #expect(answer.status == 503 && answer.headers["retry-after"] != nil, "\(answer.text)")
                    return server.requests.count > before
                }
            }
            await gateway.stop()
            await server.stop()
            await shop.broker.close()
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
            await shop.broker.close()
        }
    }
}

/// An issuer's key set on a port of this machine, which counts who fetches it.
private final class Issuer: VendorStub {
    private let state: Mutex<(document: [UInt8], fetches: Int)>

    init(_ keys: [SigningKey]) { state = Mutex((Self.document(keys), 0)) }

    var fetches: Int { state.withLock { $0.fetches } }

    func publish(_ keys: [SigningKey]) { state.withLock { $0.document = Self.document(keys) } }

    func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        state.withLock { state in
            state.fetches += 1
            return StubResponse(
                status: 200, headers: [("content-type", "application/jwk-set+json")], body: state.document)
        }
    }

    private static func document(_ keys: [SigningKey]) -> [UInt8] {
        (try? JWK.setJSON(of: keys.map(\.verificationKey))) ?? []
    }
}

/// The keys that callers sign with, and the answers they got.
private final class Tally: Sendable {
    private struct State {
        var key: SigningKey?
        var counts: [Int: Int] = [:]
        /// Tokens since the key changed.
        var sinceChange = 0
        var waiter: (wanted: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state: Mutex<State>

    init(_ key: SigningKey) { state = Mutex(State(key: key)) }

    /// Nil at the end.
    var key: SigningKey? { state.withLock { $0.key } }
    var counts: [Int: Int] { state.withLock { $0.counts } }

    func sign(with key: SigningKey) {
        state.withLock { ($0.key, $0.sinceChange) = (key, 0) }
    }

    func stop() { state.withLock { $0.key = nil } }

    func add(_ status: Int) {
        let waiter = state.withLock { state in
            state.counts[status, default: 0] += 1
            if status == 200 { state.sinceChange += 1 }
            guard let waiter = state.waiter, state.sinceChange >= waiter.wanted else {
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    /// Returns when the given number of tokens came since the key changed.
    func reached(_ wanted: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiter = (wanted, continuation) }
        }
    }
}
