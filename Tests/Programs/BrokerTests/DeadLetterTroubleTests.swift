import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// A dead-letter topic that takes nothing: not even the smallest record, by the topic's own limit.
    @Suite(.timeLimit(.minutes(5))) struct DeadLetterTroubleTests {
        /// Less than a dead letter by reference, and more than the mark that ends a transaction, which the broker must be
        /// able to write.
        private static let tooSmall = ["max.message.bytes": "128"]

        @Test func `a worker that cannot write dead letters reports why, commits nothing and goes on when it can`()
            async throws
        {
            try await Stage.play(workers: 1, Shop.Wishes(deadLetters: Self.tooSmall)) { stage in
                let program = stage.workers[0].program
                let scrape = try await AdminAPI(of: program)
                // The first seven of the mix are no poison.
                try await stage.feed.send(7)
                try await stage.ledger.waitUntilAnswered()
                #expect(try await scrape.get("/health/ready").status == 200)

                try await stage.feed.send(33)
                #expect(await program.logged("topic.unwritable"))
                let before = try await committed(stage)
                let (status, body) = try await scrape.get("/health/ready")
                #expect(status == 503)
                #expect(body.contains("the topic \(stage.shop.topics.deadLetters) cannot be written"))
                #expect(body.contains("MSG_SIZE_TOO_LARGE"), "\(body)")
                try await stage.feed.send(100)
                #expect(await program.logged("topic.still-unwritable"))
                #expect(try await committed(stage) == before)
                #expect(!stage.ledger.open.isEmpty)

                let operatorsClient = try Cluster.makeProducer()
                try await operatorsClient.configure(stage.shop.topics.deadLetters, settings: [:], within: .seconds(30))
                await operatorsClient.close(within: .seconds(1))
                #expect(await program.logged("topics.writable"))
                try await stage.ledger.waitUntilAnswered()
                #expect(try await scrape.get("/health/ready").status == 200)
                try await stage.settle().expectExactlyOnce()
            }
        }

        private func committed(_ stage: Stage) async throws -> [TopicPartition: Int64] {
            try await TopicReader.committed(
                stage.shop.partitions(of: [stage.shop.topics.live]), by: stage.shop.group)
        }
    }
}
