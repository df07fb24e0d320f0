import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// A gateway's readiness where only a real broker can decide: who is in the workers' group, and partitions that are added.
    @Suite(.timeLimit(.minutes(5))) struct GatewayReadinessTests {
        @Test func `a gateway is ready while a worker is in the group, and not otherwise`() async throws {
            try await Shop.open { shop in
                let gateway = try await Gateway(shop)
                // Nobody was in the group yet: the fleet may be about to begin, for some seconds.
                _ = try await gateway.health { $0.hasSuffix("200") }
                let unanswered = try await gateway.token("ann", "?wait=1")
                #expect(unanswered.hasSuffix("503") && unanswered.contains("unanswered"), "\(unanswered)")
                let missing = try await gateway.health { $0.hasSuffix("503") }
                #expect(missing.contains(#""workers":"no worker is in the group since "#), "\(missing)")

                let worker = try shop.startProgram()
                let answered = try await gateway.token("ann", "?wait=30")
                #expect(answered.hasSuffix("200"), "\(answered)")
                _ = try await gateway.health { $0.hasSuffix("200") }

                worker.terminate()
                await worker.waitForEnd()
                let left = try await gateway.health { $0.hasSuffix("503") }
                #expect(left.contains(#""workers":"no worker is in the group since "#), "\(left)")
                #expect(try await gateway.token("ann", "").hasSuffix("200"), "what is known is served")
                func losses() -> Int { gateway.program.logCount("gateway.workers-absent") }
                // The log is written once a second.
                try await eventually("the second line") { losses() >= 2 }
                #expect(losses() == 2, "\(gateway.program.errorText)")
                _ = try shop.startProgram()
                _ = try await gateway.health { $0.hasSuffix("200") }
                try #require(await gateway.program.logged("gateway.workers-present"))
            }
        }

        @Test func `a report that is superseded in exactly once ends its call, and a hung worker is noticed`()
            async throws
        {
            try await Shop.open { shop in
                let worker = try shop.startProgram()
                let gateway = try await Gateway(shop)
                _ = try await gateway.health { $0.hasSuffix("200") }
                func token(in answer: String) throws -> String {
                    String(try #require(answer.firstMatch(of: /"token":"([^"]+)"/), "\(answer)").1)
                }
                var latest = try token(in: await gateway.token("ann", "?wait=30"))
                var statuses: [String] = []
                for number in 0..<8 {
                    let start = ContinuousClock.now
                    let answer = try await gateway.report("ann", naming: latest, device: "d-\(number)")
                    statuses.append(String(answer.suffix(3)))
                    if answer.hasSuffix("200") { latest = try token(in: answer) }
                    #expect(ContinuousClock.now - start < .seconds(20), "\(answer)")
                }
                #expect(statuses.contains("202") && Set(statuses).isSubset(of: ["200", "202"]), "\(statuses)")
                #expect(try await gateway.health { _ in true }.hasSuffix("200"))

                worker.send(SIGSTOP)
                let unanswered = try await gateway.token("ben", "?wait=1")
                #expect(unanswered.hasSuffix("503"), "\(unanswered)")
                let hung = try await gateway.health { $0.hasSuffix("503") }
                #expect(hung.contains(#""workers":"no worker "#), "\(hung)")
                worker.send(SIGCONT)
                _ = try await gateway.health { $0.hasSuffix("200") }
            }
        }

        @Test(.enabled(if: Cluster.canAlterTopics, Cluster.howToAlterTopics))
        func `partitions added to the token topic are followed, and the gateway is ready by itself`() async throws {
            try await Shop.open { shop in
                _ = try shop.startProgram()
                let gateway = try await Gateway(shop)
                _ = try await gateway.health { $0.hasSuffix("200") }
                try await Cluster.addPartitions(to: shop.topics.tokens, upTo: 12)
                let start = ContinuousClock.now
                // The worker learns of new partitions within half a minute, and publishes on all of them then.
                for number in 0..<60 {
                    let answer = try await gateway.token("user-\(number)", "?wait=30")
                    #expect(answer.hasSuffix("200"), "\(answer)")
                }
                _ = try await gateway.health { $0.hasSuffix("200") }
                let added = (Int32(6)..<12).map { TopicPartition(topic: shop.topics.tokens, partition: $0) }
                var number = 60
                try await eventually("a token on a partition that was added") {
                    let answer = try await gateway.token("user-\(number)", "?wait=30")
                    #expect(answer.hasSuffix("200"), "\(answer)")
                    number += 1
                    return try await TopicReader.ends(of: added).contains { $0.value > 0 }
                }
                report(
                    "6 partitions added to the token topic: a token on one of them within \(ContinuousClock.now - start)"
                )
            }
        }
    }
}

/// A gateway in a process of its own, in front of a shop's topics, for a backend.
struct Gateway {
    let program: Program
    let address: String
    let key: String

    init(_ shop: Shop) async throws {
        let made = try await Program.run(Repository.remint, ["pickup-key", "test"])
        key = made.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
        let hash = try #require(made.errorText.firstMatch(of: /\b[0-9a-f]{64}\b/)?.0)
        let file = shop.folder.appending(path: "pickup.yaml")
        let text = try String(contentsOfFile: shop.configuration, encoding: .utf8)
        let section =
            "pickup:\n  listen: 127.0.0.1:0\n  drain: 0s\n  user_rate: 10000\n  api_keys: { test: { hash: \(hash) } }\n"
        try Data("\(text)\n\(section)".utf8).write(to: file)
        program = try shop.startGateway(file)
        try #require(await program.logged("gateway.listening"), "\(program.errorText)")
        address = String(try #require(program.errorText.firstMatch(of: /remint\.pickup\.address=([0-9.:]+)/)).1)
    }

    /// Returns the body and, at its end, the status of `/health/ready` once they are as wanted.
    func health(until isWanted: (String) -> Bool) async throws -> String {
        try await eventualValue("the expected answer of /health/ready", within: .seconds(240)) {
            let answer = try await call("/health/ready")
            return isWanted(answer) ? answer : nil
        }
    }

    /// Returns the body and, at its end, the status of a call for the token of `user`.
    func token(_ user: String, _ query: String) async throws -> String {
        try await call(
            "/v1/apps/braze-ios/token\(query)",
            ["-H", "X-Api-Key: \(key)", "-H", #"Remint-Vouched: {"user":"\#(user)"}"#])
    }

    /// Returns the body and, at its end, the status of a report of `user` that names `token` as expired.
    func report(_ user: String, naming token: String, device: String) async throws -> String {
        try await call(
            "/v1/apps/braze-ios/reports",
            [
                "-X", "POST", "-H", "X-Api-Key: \(key)", "-H", #"Remint-Vouched: {"user":"\#(user)"}"#, "-H",
                "Prefer: wait=30", "-H", "Remint-Device: \(device)", "-d",
                #"{"errorCode":22,"userId":"\#(user)","errorReason":"expired","signature":"\#(token)"}"#,
            ])
    }

    private func call(_ path: String, _ options: [String] = []) async throws -> String {
        try await Program.run("curl", ["-s", "-w", "%{http_code}"] + options + ["http://\(address)\(path)"]).outputText
    }
}
