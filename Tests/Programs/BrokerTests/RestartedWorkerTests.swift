import Foundation
import Glibc
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// Workers whose groups keep their places (KIP-345).
    @Suite(.timeLimit(.minutes(5))) struct RestartedWorkerTests {
        /// `session.timeout.ms` of a shop's workers.
        private static let session = Duration.seconds(6)

        /// The second name holds letters that brokers take in no static member's name.
        @Test(arguments: [["instance: worker-0"], ["instance: \"it's 7\""], []])
        func `a killed worker that is started again at once answers long before its session would have expired`(
            _ kafka: [String]
        ) async throws {
            try await Shop.open(Shop.Wishes(kafka: kafka)) { shop in
                let first = try shop.startProgram()
                try #require(await first.logged("partitions.assigned"))
                try await shop.produce("one", 30)
                try await shop.waitForTokens(30)
                first.kill()
                await first.waitForEnd()
                let start = ContinuousClock.now
                let second = try shop.startProgram()
                try await shop.produce("two", 30)
                try await shop.waitForTokens(60)
                let took = ContinuousClock.now - start
                report("killed and started again: 30 events answered after \(took)")
                #expect(took < Self.session - .seconds(1))
                second.terminate()
                await second.waitForEnd()
                #expect(second.status == 0, "\(second.lastLines)")
                let answers = try await shop.tokens()
                #expect(Set(answers.compactMap(\.eventID)).count == 60)
                #expect(answers.count == 60)
            }
        }

        @Test func `a static member that leaves for good hands its partitions on at once`() async throws {
            try await members { join in
                let stays = try join("worker-0"), leaves = try join("worker-1")
                async let first = partitions(of: stays, 3)
                async let second = partitions(of: leaves, 3)
                _ = try await (first, second)
                let start = ContinuousClock.now
                #expect(await leaves.close(within: .seconds(10)))
                _ = try await partitions(of: stays, 6)
                let took = ContinuousClock.now - start
                report("a static member left: handed on after \(took)")
                #expect(took < .seconds(5))
                await stays.close(within: .seconds(10))
            }
        }

        @Test func `a static member that keeps its place gets its partitions again, and no other member stops`()
            async throws
        {
            try await members { join in
                let stays = try join("worker-0"), restarts = try join("worker-1")
                async let first = partitions(of: stays, 3)
                async let second = partitions(of: restarts, 3)
                let (_, own) = try await (first, second)
                #expect(await restarts.close(within: .seconds(10), keepsPlace: true))
                let again = try join("worker-1")
                #expect(try await partitions(of: again, 3) == own)
                let news = await stays.events(limit: 100, within: .seconds(2))
                #expect(!news.contains { if case .rebalance = $0 { true } else { false } })
                await again.close(within: .seconds(10))
                await stays.close(within: .seconds(10))
            }
        }

        // MARK: Steps

        /// Runs `body` with a group on a topic of six partitions, and with what makes its static members.
        private func members(
            _ body: ((_ name: String) throws -> KafkaConsumer) async throws -> Void
        ) async throws {
            try await Shop.open { shop in
                try await body { name in
                    try KafkaConsumer(
                        [
                            "bootstrap.servers": Cluster.brokers, "group.id": shop.group, "group.instance.id": name,
                            "session.timeout.ms": "30000", "heartbeat.interval.ms": "500",
                            "auto.offset.reset": "earliest", "partition.assignment.strategy": "range",
                        ], topics: [shop.topics.live], logger: quiet)
                }
            }
        }

        /// Answers rebalances until `count` partitions belong to `consumer`.
        private func partitions(of consumer: KafkaConsumer, _ count: Int) async throws -> Set<TopicPartition> {
            while await consumer.assignedPartitions.count != count {
                try Task.checkCancellation()
                for event in await consumer.events(limit: 100, within: .milliseconds(100)) {
                    if case .rebalance(let rebalance) = event { try await consumer.answer(rebalance) }
                }
            }
            return await consumer.assignedPartitions
        }
    }
}
