import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Lanes and apps that an operator makes wait, and lets go on.
    @Suite(.timeLimit(.minutes(5))) struct PauseTests {
        @Test
        func `a paused lane rests on every worker under traffic, also on one that starts later, and loses nothing`()
            async throws
        {
            let shop = try await Shop.open()
            let first = try await shop.startWorker()
            let admin = try await AdminAPI(of: first)
            try await shop.produce([report("before")])
            try await admin.wait("remint_minted_total", atLeast: 1)

            let paused = try await remint(shop, "lanes", "pause", "live", "--reason", "the vendor moves", "--by", "ann")
            #expect(paused.status == 0, "\(paused.errorText)")
            try #require(await first.logged("lane.paused"), "\(first.errorText)")
            try await admin.wait("remint_lane_paused", [#"lane="live""#], atLeast: 1)
            #expect(try await admin.total("remint_lane_paused", [#"lane="bulk""#]) == 0)
            #expect(try await remint(shop, "lanes", "pause", "live").status == 1, "it is paused already")
            try await eventually("the pause on the status page") {
                try await admin.get("/status").text.contains(#""by":"ann","why":"the vendor moves""#)
            }

            try await shop.produce((0..<5).map { report("live-\($0)") })
            // The other lane goes on, and what waits is counted.
            try await shop.produce((0..<5).map { report("bulk-\($0)", topic: "remint.invalidations.bulk") })
            try await admin.wait("remint_minted_total", atLeast: 6)
            try await admin.wait("remint_consumer_lag_records", [#"lane="live""#], atLeast: 5)

            // A worker that starts meanwhile obeys, and so does the one that takes the other's partitions over.
            let second = try await shop.startWorker()
            let later = try await AdminAPI(of: second)
            try await later.wait("remint_lane_paused", [#"lane="live""#], atLeast: 1)
            first.terminate()
            await first.waitForEnd()
            #expect(first.status == 0, "\(first.errorText)")
            try await shop.produce((5..<10).map { report("bulk-\($0)", topic: "remint.invalidations.bulk") })
            try await later.wait("remint_minted_total", atLeast: 5)
            let early = try await subjects(shop, atLeast: 11)
            #expect(early.filter { $0.contains("live-") }.isEmpty, "nothing of the lane came out")

            let resumed = try await remint(shop, "lanes", "resume", "live")
            #expect(resumed.status == 0, "\(resumed.errorText)")
            #expect(resumed.outputText.contains("it was paused since"))
            let all = try await subjects(shop, atLeast: 16)
            let users = ["before"] + (0..<5).map { "live-\($0)" } + (0..<10).map { "bulk-\($0)" }
            #expect(all == Set(users.map { "braze-ios/\($0)" }), "each is answered")
            #expect(await second.logged("lane.resumed"))
            #expect(try await remint(shop, "lanes", "resume", "live").status == 1, "it is not paused")

            await shop.close()
        }

        @Test func `the status shows lag, dead letters and keys without any worker`() async throws {
            let shop = try await Shop.open()
            _ = try await remint(shop, "lanes", "pause", "bulk", "--by", "ann", "--reason", "the night")
            try await shop.produce((0..<4).map { report("b-\($0)", topic: "remint.invalidations.bulk") })
            try await shop.produce([rawReport("nobody", "{}")])
            let worker = try await shop.startWorker()
            _ = try await shop.consumeOutputs { $0.contains { $0.header("remint-error-code") == "unknown_app" } }
            worker.terminate()
            await worker.waitForEnd()

            let json = try await remint(shop, "status", "--json")
            #expect(json.status == 0, "\(json.errorText)")
            let root = try #require(try JSONSerialization.jsonObject(with: json.standardOutput) as? [String: Any])
            #expect(root["shape"] as? Int == 1)
            let lanes = try #require(root["lanes"] as? [[String: Any]])
            #expect(lanes.map { $0["lane"] as? String } == ["live", "retries", "bulk"])
            #expect(lanes.map { $0["lag"] as? Int } == [0, 0, 4])
            #expect(lanes.map { $0["state"] as? String } == ["active", "active", "paused"])
            #expect((lanes[2]["paused"] as? [String: String])?["why"] == "the night")
            #expect((root["dead_letters"] as? [String: Any])?["waiting"] as? Int == 1)
            let rings = try #require(root["rings"] as? [[String: Any]])
            #expect(!rings.isEmpty && rings.allSatisfy { ($0["versions"] as? [Any])?.isEmpty == false })
            #expect((root["apps"] as? [Any])?.isEmpty == false)

            // Nobody answers there.
            let away = try await Command.remint(
                ["status", "--config", shop.configuration, "--brokers", "127.0.0.1:1"])
            #expect(away.status == 75, "\(away.outputText)")
            await shop.close()
        }

        @Test func `a watched status continues until it is interrupted`() async throws {
            let shop = try await Shop.open()
            let status = try Program(
                Repository.remint,
                ["status", "--watch", "--interval", "100ms", "--json", "--config", shop.configuration, "--brokers"]
                    + [shop.broker.bootstrapServers])
            try await eventually("three lines of the status") {
                status.outputText.split(separator: "\n").count >= 3 || status.status >= 0
            }
            status.terminate()
            await status.waitForEnd()
            #expect(status.outputText.split(separator: "\n").prefix(3).allSatisfy { $0.hasPrefix(#"{"shape":1,"#) })
            await shop.close()
        }

        @Test func `commands refuse an unknown lane, a bad duration and bad broker addresses`() async throws {
            let shop = try await Shop.open()
            #expect(try await remint(shop, "lanes", "pause", "slow").status == 2)
            #expect(try await remint(shop, "lanes", "pause", "bulk", "--for", "soon").status == 2)
            #expect(try await remint(shop, "status", "--interval", "0s").status == 2)
            for brokers in ["127.0.0.1:99999", "127.0.0.1:", "localhost:9092/x", "a:1;b:2"] {
                let refused = try await Command.remint(
                    ["status", "--config", shop.configuration, "--brokers", brokers])
                #expect(refused.status == 2 && refused.errorText.contains("--brokers: "), "\(refused.errorText)")
            }
            await shop.close()
        }

        private func report(_ user: String, topic: String = "remint.invalidations") -> ProducerRecord {
            let record = rawReport("braze-ios", #"{"code":22,"userId":"\#(user)"}"#)
            return ProducerRecord(topic: topic, body: record.body)
        }

        /// The keys of the tokens that came, at least `count`.
        /// Returns the subjects with tokens, when there are `count` of them. A handover may give an event a second token: the
        /// embedded broker isolates no transaction, so delivery is at least once.
        private func subjects(_ shop: borrowing Shop, atLeast count: Int) async throws -> Set<String> {
            func names(_ records: [ConsumedRecord]) -> Set<String> {
                Set(records.map { String(decoding: $0.key ?? [], as: UTF8.self) })
            }
            return names(try await shop.consumeOutputs(of: ["remint.tokens"]) { names($0).count >= count })
        }

        private func remint(_ shop: borrowing Shop, _ arguments: String...) async throws -> Command {
            try await Command.remint(
                arguments + ["--config", shop.configuration, "--brokers", shop.broker.bootstrapServers])
        }
    }
}
