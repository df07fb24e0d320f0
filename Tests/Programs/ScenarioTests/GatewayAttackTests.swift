import AdapterKit
import Foundation
@_spi(Signing) import JOSE
import Kafka
import ProgramTestSupport
import Synchronization
import Testing

extension GatewayScenarios {
    /// The attacks of callers on the gateway: with sessions of other users, headers that lie, and floods. Nobody gets a
    /// byte of another user's token, and no honest caller is refused.
    @Suite(.timeLimit(.minutes(5))) struct GatewayAttackTests {
        static let entries = [
            "braze-ios: { issuer: https://login.example, audience: shop }",
            "infobip-mobile: { issuer: https://login.example, claim: customer_id }",
            "onesignal-shop: { issuer: https://support.example }",
        ]

        /// The lines of a gateway that knows customers and agents, behind a proxy on this machine.
        static func lines(_ shop: borrowing Shop, _ keys: AttackKeys) throws -> [String] {
            let file = shop.folder.appending(path: "agents.json")
            try Data(try JWK.setJSON(of: [keys.agents.verificationKey])).write(to: file)
            return [
                "trusted_proxies: [127.0.0.1]",
                "sessions: { agents: { issuer: https://support.example, audience: support, user_claim: agent, jwks: '\(file.path)' } }",
            ]
        }

        @Test func `no row of the table gets a byte of somebody else's token`() async throws {
            let keys = try AttackKeys()
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(
                shop, issuer: keys.customers, entries: Self.entries, limits: [], scopedKey: AttackKeys.scopedKey,
                more: try Self.lines(shop, keys))
            // The tokens that the rows are after.
            let victims = [
                ("braze-ios", try keys.session("victim")), ("braze-ios", try keys.session("17")),
                ("onesignal-shop", try keys.agent("17")), ("onesignal-shop", try keys.agent("victim")),
            ]
            var tokens: [String] = []
            for (app, session) in victims {
                let answer = try await gateway.call("/v1/apps/\(app)/token", session: session)
                try #require(answer.status == 200, "\(answer.text)")
                tokens.append(try #require(answer.text("token")))
            }
            let known = tokens
            let rows = try keys.sessionRows() + keys.headerRows() + keys.spellingRows() + keys.framingRows()
            #expect(rows.count >= 100)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<8 {
                    group.addTask {
                        for number in stride(from: lane, to: rows.count, by: 8) {
                            let text = await RawConnection.exchange(
                                rows[number].bytes(number), with: gateway.address,
                                silence: rows[number].isRaw ? 1 : 60)
                            Self.judge(rows[number], text, known)
                        }
                    }
                }
                try await group.waitForAll()
            }
            // The rows are told apart by nothing that a stranger sees, whatever app they name.
            var seen: Set<String> = []
            for app in ["braze-ios", "onesignal-shop", "dotdigital-push", "nobodys", "%00"] {
                let answer = try await gateway.call(
                    "/v1/apps/\(app)/token", headers: ["X-Forwarded-For": "198.51.100.9"])
                seen.insert("\(answer.status) \(answer.text)")
            }
            #expect(seen.count == 1 && seen.first?.hasPrefix("401") == true, "\(seen)")
            // Nobody honest was refused, and nothing of it all is in the log.
            for (app, session) in victims {
                #expect(try await gateway.call("/v1/apps/\(app)/token", session: session).status == 200)
            }
            #expect(!gateway.program.errorText.contains("eyJ"))
            await shop.close(expecting: 0)
        }

        private static func judge(_ row: GatewayAttack, _ text: String, _ tokens: [String]) {
            let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            #expect(row.statuses.contains(status), "\(row.name): \(text)")
            for token in tokens {
                #expect(!text.contains(token) && !text.contains(token.suffix(30)), "\(row.name): \(text)")
            }
            // Whatever was answered to a second request in the same bytes is in the same text.
            let answers = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
            for answer in answers where answer.contains(#""token":"#) {
                guard let body = answer.range(of: "\r\n\r\n").map({ String(answer[$0.upperBound...]) }),
                    let token = try? JSONDocument(parsing: Array(body.utf8)).root["token"]?.string
                else {
                    Issue.record("\(row.name): a token that cannot be read: \(answer)")
                    continue
                }
                let user = user(of: token)
                #expect(
                    row.user != nil && user.map { Array($0.utf8) } == row.user.map { Array($0.utf8) },
                    "\(row.name): \(user ?? "")")
            }
        }

        static func user(of token: String) -> String? {
            let parts = token.split(separator: ".")
            guard parts.count == 3, let payload = try? Base64.url.decode(Array(parts[1].utf8)[...]) else { return nil }
            return try? JSONDocument(parsing: payload).root["sub"]?.string
        }

        @Test
        func `forged sessions at full speed are slowed, and thirty honest users behind the same proxy are served`()
            async throws
        {
            let keys = try AttackKeys()
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(
                shop, issuer: keys.customers, limits: ["refused_rate: 5"], more: ["trusted_proxies: [127.0.0.1]"])
            let path = "/v1/apps/braze-ios/token"
            let attacker = ["X-Forwarded-For": "198.51.100.66"]
            // A device of the attacker's network that was served before.
            let known = try gateway.session("neighbor")
            #expect(try await gateway.call(path, session: known, headers: attacker).status == 200)
            let flood = Flood()
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<4 {
                    group.addTask {
                        let forged = try (0..<50).map {
                            try keys.session("victim-\(lane)-\($0)", by: $0 % 2 == 0 ? keys.stranger : keys.unknown)
                        }
                        var number = 0
                        while !flood.isOver {
                            number += 1
                            // Whatever stands left of the proxy's own word is the attacker's.
                            let lie = [
                                "X-Forwarded-For": "10.\(lane).\(number / 250 % 250).\(number % 250), 198.51.100.66"
                            ]
                            let answer = try await gateway.call(path, session: forged[number % 50], headers: lie)
                            flood.add(answer.status)
                            #expect(!answer.text.contains("eyJ"))
                        }
                    }
                }
                // The flood has come up against its limit before anybody honest comes.
                await flood.slowed(100)
                try await withThrowingTaskGroup(of: Void.self) { honest in
                    for user in 0..<30 {
                        honest.addTask {
                            let session = try gateway.session("honest-\(user)")
                            for _ in 0..<5 {
                                let answer = try await gateway.call(
                                    path, session: session, headers: ["X-Forwarded-For": "203.0.113.\(user + 1)"])
                                #expect(answer.status == 200, "\(user): \(answer.text)")
                            }
                        }
                    }
                    honest.addTask {
                        for _ in 0..<5 {
                            let answer = try await gateway.call(path, session: known, headers: attacker)
                            #expect(answer.status == 200, "a known session of the attacker's address: \(answer.text)")
                        }
                    }
                    try await honest.waitForAll()
                }
                flood.end()
                try await group.waitForAll()
            }
            let seconds = (.now - start) / .seconds(1)
            let counts = flood.counts
            let checked = counts.filter { $0.key != 429 }.values.reduce(0, +)
            // 10 at once, 5 a second, and what was under way in the four lanes.
            #expect(Double(checked) <= 10 + 5 * seconds + 8, "\(counts) in \(seconds) s")
            #expect(counts[429] ?? 0 > 0 && counts[200] == nil, "\(counts)")
            await shop.close()
        }

        @Test func `strangers of many addresses leave known callers their part of the limit of all`() async throws {
            let keys = try AttackKeys()
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(
                shop, issuer: keys.customers, limits: ["total_rate: 20", "user_rate: 1000", "caller_rate: 1000"],
                more: ["trusted_proxies: [127.0.0.1]"])
            let path = "/v1/apps/braze-ios/token"
            let known = try keys.session("known")
            #expect(try await gateway.call(path, session: known).status == 200)
            let backend = ["X-Api-Key": Gateway.apiKey, "Remint-Vouched": #"{"user":"known"}"#]
            let flood = Flood()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<4 {
                    group.addTask {
                        let forged = try keys.session("victim-\(lane)", by: keys.stranger)
                        var number = 0
                        while !flood.isOver {
                            number += 1
                            let address = ["X-Forwarded-For": "10.\(lane).\(number / 250 % 250).\(number % 250)"]
                            flood.add(try await gateway.call(path, session: forged, headers: address).status)
                        }
                    }
                }
                await flood.slowed(100)
                // Fewer than the ten of their part that may come at once.
                for round in 0..<4 {
                    let address = ["X-Forwarded-For": "203.0.113.\(round + 1)"]
                    let device = try await gateway.call(path, session: known, headers: address)
                    #expect(device.status == 200, "\(device.text)")
                    let trusted = try await gateway.call(path, headers: backend)
                    #expect(trusted.status == 200, "\(trusted.text)")
                }
                flood.end()
                try await group.waitForAll()
            }
            await shop.close()
        }

        @Test func `a caller's word about its address counts from a trusted proxy alone`() async throws {
            let keys = try AttackKeys()
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(
                shop, issuer: keys.customers, limits: ["refused_rate: 1"], more: ["trusted_proxies: [127.0.0.1]"])
            func ask(_ number: Int, from source: String) async throws -> Int? {
                let row = GatewayAttack(
                    "", [401], "/v1/apps/braze-ios/token",
                    ["X-Real-IP: 192.0.2.\(number)", "Forwarded: for=192.0.2.\(number)"])
                let answer = await RawConnection.exchange(row.bytes(number), with: gateway.address, from: source)
                return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            }
            // Two at once may be refused; of more, from one address by another name each time, most have to wait.
            var hostile: [Int?] = []
            for number in 0..<12 { hostile.append(try await ask(number, from: "127.0.0.2")) }
            #expect(hostile.contains(429) && hostile.allSatisfy { $0 == 401 || $0 == 429 }, "\(hostile)")
            for number in 20..<32 { #expect(try await ask(number, from: "127.0.0.1") == 401) }
            await shop.close()
        }
    }
}

/// A flood of requests, and what came of them.
private final class Flood: Sendable {
    private struct State {
        var isOver = false
        var counts: [Int: Int] = [:]
        var waiter: (wanted: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    var isOver: Bool { state.withLock { $0.isOver } }
    /// The answers, by status.
    var counts: [Int: Int] { state.withLock { $0.counts } }

    func add(_ status: Int) {
        let waiter = state.withLock { state in
            state.counts[status, default: 0] += 1
            guard let waiter = state.waiter, state.counts[429, default: 0] >= waiter.wanted else {
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    /// Returns when limits refused the given number of requests.
    func slowed(_ wanted: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiter = (wanted, continuation) }
        }
    }

    func end() { state.withLock { $0.isOver = true } }
}
