import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// Events that wait: never too short, never much too long, and all are answered in the end.
    @Suite(.timeLimit(.minutes(5))) struct RetryTierTests {
        private static let count = 100

        @Test func `events that lack a key go through all tiers in time and are answered by the next key`() async throws
        {
            try await Stage.play(workers: 1) { stage in
                let ring = KeyRingFile(folder: stage.shop.folder.appending(path: "keys/infobip-mobile"))
                // A key that retires in a minute is good for no token of Infobip's, which live five.
                var versions = try ring.versions()
                versions[0]["retire_after"] = Date.now.addingTimeInterval(60).ISO8601Format()
                try await change(stage.workers[0].program) { try ring.write(versions) }
                try await send(stage) { id in
                    EventMix.report(
                        "infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#(id)"}"#, id: id,
                        topic: stage.shop.topics.live)
                }
                // Twice through the last tier.
                try await TopicReader.wait(
                    for: Self.count * 2, on: stage.shop.partitions(of: [stage.shop.topics.tiers[2]]))
                try ring.activate("next", key: Data(String(repeating: "5a", count: 32).utf8))
                try await finish(stage, key: "next", tiers: Shop.tiers)
            }
        }

        // MARK: Steps

        /// Changes a key ring and waits until the worker uses it.
        private func change(_ program: Program, _ write: () throws -> Void) async throws {
            try write()
            try #require(await program.logged("key-ring.changed"), "\(program.lastLines)")
        }

        /// Sends events of as many users over five seconds.
        private func send(_ stage: Stage, _ record: (String) -> ProducerRecord) async throws {
            let start = ContinuousClock.now
            for number in 0..<Self.count {
                let turn = start + .milliseconds(50) * number
                try await eventually("the turn of event \(number)") { .now >= turn }
                try await deliver([record("waiting-\(number)")], stage)
            }
        }

        private func deliver(_ records: [ProducerRecord], _ stage: Stage) async throws {
            let errors = try await stage.feed.deliver(records)
            try #require(errors.allSatisfy { $0 == nil })
            stage.ledger.sent(records.compactMap(\.id))
        }

        /// Waits until the group's offsets are the ends of the retry topics, behind the marks of the transactions that wrote to them.
        private func waitForNoLag(_ stage: Stage) async throws {
            try await TopicReader.waitUntilCommitted(
                stage.shop.partitions(of: stage.shop.topics.tiers), by: "\(stage.shop.group)-retries")
        }

        /// Waits until all are answered, and looks at the ways they took.
        private func finish(_ stage: Stage, key: String, tiers: [String]) async throws {
            try await stage.ledger.waitUntilAnswered()
            try await waitForNoLag(stage)
            await stage.retire()
            let hops = try await Hops(stage.shop)
            hops.expectPunctual()
            for tier in tiers { #expect(hops.count(in: tier) >= Self.count, "\(tier)") }
            let tokens = try await stage.shop.tokens()
            let answers = tokens.filter { $0.eventID?.hasPrefix("waiting-") == true }
            #expect(answers.count == Self.count)
            #expect(Set(answers.compactMap(\.eventID)).count == Self.count)
            #expect(answers.allSatisfy { $0.member("key_id") == key })
            report(hops.summary)
        }
    }
}
