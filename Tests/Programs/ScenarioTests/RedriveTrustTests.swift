import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Dead letters of events that claimed more than they may: a redrive is no way around the rules of a topic.
    @Suite(.timeLimit(.minutes(5))) struct RedriveTrustTests {
        private static let forged = [
            ("remint-redrives", "1"), ("remint-origin-topic", "remint.invalidations.bulk"),
            ("remint-origin-partition", "0"), ("remint-origin-offset", "1"), ("remint-origin-timestamp", "1"),
            ("remint-error-code", "key_unavailable"), ("remint-attempts", "1"),
        ].map { RecordHeader($0, $1) }

        private static func record(_ topic: String, _ value: String, _ headers: [(String, String)]) -> ProducerRecord {
            ProducerRecord(
                topic: topic, key: nil, value: Array(value.utf8),
                headers: headers.map { RecordHeader($0, $1) } + forged)
        }

        private static let events = [
            // The producer of shop-a's own topic names another app and vouches for whom it likes.
            record(
                "a.failures", #"{"externalId":"victim"}"#,
                [("remint-app", "onesignal-shop"), ("remint-id", "a"), ("remint-vouched", #"{"user":"victim"}"#)]),
            // A producer of the shared topic writes an operator's request for an app that takes those from the bulk topic alone.
            record("remint.invalidations", #"{"app":"braze-ios","id":"b","reissue":{"user":"victim"}}"#, []),
            // An honest event of an app with topics of its own, which is not configured yet.
            record(
                "a.failures", #"{"errorCode":22,"userId":"ann"}"#, [("remint-app", "later"), ("remint-id", "c")]),
        ]

        @Test func `redriven events go back to their own topic, gain nothing by their headers, and are answered there`()
            async throws
        {
            let shop = try await Shop.open()
            try await shop.broker.createTopic("a.failures", partitions: shop.partitions)
            try await shop.broker.createTopic("remint.dead-letters.parked", partitions: shop.partitions)
            try shop.configure("    key: braze-ios\n", "    key: braze-ios\n    topics: [a.failures]\n")
            try shop.configure(
                "    key: onesignal-shop\n    identity: reported\n", "    key: onesignal-shop\n    identity: vouched\n")
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            try await shop.produce(Self.events)
            try await admin.wait("remint_outcomes_total", [#"outcome="dead_lettered""#], atLeast: 3)

            // Strangers' events stay unless their code is named.
            for id in ["a", "b"] {
                let dry = try await redrive(shop, ["--id", id, "--dry-run"])
                #expect(dry.outputText.contains("stays: only with --code wrong_topic"), "\(dry.outputText)")
                let plain = try await redrive(shop, ["--id", id])
                #expect(plain.outputText.contains("0 dead letters sent back"), "\(plain.outputText)")
                #expect(plain.outputText.contains("1 only with --code wrong_topic"), "\(plain.outputText)")
                #expect(plain.status == 0, "\(plain.errorText)")
            }
            let dry = try await redrive(shop, ["--code", "wrong_topic", "--dry-run", "--json"])
            let lines = dry.outputText.split(separator: "\n")
            #expect(lines.count == 3 && lines.last?.contains(#""redriven":2"#) == true, "\(dry.outputText)")
            for (id, topic) in [("a", "a.failures"), ("b", "remint.invalidations")] {
                let line = lines.first { $0.contains(#""event_id":"\#(id)""#) }
                #expect(line?.contains(#""would_go_to":"\#(topic)""#) == true, "\(dry.outputText)")
            }
            let named = try await redrive(shop, ["--code", "wrong_topic", "--json"])
            #expect(named.outputText.contains(#""redriven":2"#), "\(named.outputText) \(named.errorText)")
            try await admin.wait("remint_outcomes_total", [#"code="wrong_topic""#], atLeast: 4)
            let letters = try await shop.consumeOutputs { $0.count >= 5 }
            #expect(letters.allSatisfy { $0.position.topic == "remint.dead-letters" }, "nobody got a token")
            for (event, topic) in [("victim", "a.failures"), ("reissue", "remint.invalidations")] {
                let own = letters.filter { String(decoding: $0.value ?? [], as: UTF8.self).contains(event) }
                    .filter { $0.header("remint-origin-topic") == topic }
                #expect(own.map { $0.header("remint-error-code") } == ["wrong_topic", "wrong_topic"])
                #expect(own.map { $0.header("remint-redrives") }.sorted { ($0 ?? "") < ($1 ?? "") } == ["1", "2"])
            }
            worker.terminate()
            await worker.waitForEnd()

            // Parking is no way around it.
            let park = try await Command.remint(
                [
                    "dead-letters", "park", "--id", "a", "--reason", "ask shop-a", "--json", "--config",
                    shop.configuration,
                ])
            #expect(park.outputText.contains(#""parked":1"#), "\(park.outputText) \(park.errorText)")
            let parked = try await redrive(shop, ["--parked", "--json"])
            #expect(parked.outputText.contains(#""redriven":0"#), "\(parked.outputText)")
            #expect(parked.outputText.contains(#""needs_code":1"#), "\(parked.outputText)")
            let asked = try await redrive(shop, ["--parked", "--code", "wrong_topic", "--dry-run"])
            #expect(asked.outputText.contains("would go to a.failures"), "\(asked.outputText)")

            // The app is there, with the topic.
            try shop.configure(
                "\napps:\n", "\napps:\n  later: { adapter: braze, key: braze-ios, topics: [a.failures] }\n")
            let next = try await shop.startWorker()
            let back = try await redrive(shop, ["--app", "later", "--json"])
            #expect(back.outputText.contains(#""redriven":1"#), "\(back.outputText) \(back.errorText)")
            let tokens = try await shop.consumeOutputs(of: ["remint.tokens"]) { !$0.isEmpty }
            #expect(tokens.map { $0.member("app") } == ["later"] && tokens.map { $0.member("event_id") } == ["c"])
            next.terminate()
            await next.waitForEnd()

            // The topic is nobody's any more: no other is guessed.
            try shop.configure("topics: [a.failures]", "topics: [b.failures]")
            let gone = try await redrive(shop, ["--parked", "--code", "wrong_topic"])
            #expect(gone.status == 1)
            #expect(gone.outputText.contains("left: 1 no longer an input"), "\(gone.outputText)")
            #expect(gone.errorText.contains("1 dead letter comes from topics that are no inputs"), "\(gone.errorText)")
            await shop.close()
        }

        private func redrive(_ shop: borrowing Shop, _ arguments: [String]) async throws -> Command {
            try await Command.remint(
                ["dead-letters", "redrive"] + arguments + ["--config", shop.configuration])
        }
    }
}
