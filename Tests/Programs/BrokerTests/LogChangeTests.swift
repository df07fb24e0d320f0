import AsyncTestSupport
import Foundation
import Kafka
import Pipeline
import ProgramTestSupport
import ServiceLifecycle
import Testing

extension BrokerTests {
    /// Logs that do not agree with the group's offsets: shortened, created again, cut at their beginning, or with more
    /// partitions.
    @Suite(.timeLimit(.minutes(5))) struct LogChangeTests {
        @Test func `a group whose offsets lie beyond the logs' ends answers what comes, and nothing twice`()
            async throws
        {
            try await Shop.open { shop in
                try await answer(shop, "old", 30)
                let partitions = shop.partitions(of: [shop.topics.live])
                let reader = try Cluster.makeReader(of: [], group: shop.group)
                try await reader.commit(partitions.map { PartitionOffset($0, offset: 5_000) })
                await reader.close(within: .seconds(2))
                let worker = try shop.startProgram()
                #expect(await worker.logged("partition.truncated"))
                try await shop.produce("new", 30)
                try await shop.waitForTokens(60)
                try await stop(worker)
                let answers = try await answered(shop)
                #expect(answers.count == 60)
                #expect(Set(answers).count == 60, "an event was answered twice")
            }
        }

        @Test(arguments: [0.2, 8])
        func `every event of a topic that was created again under its name is answered`(_ gap: Double) async throws {
            try await Shop.open { shop in
                let worker = try shop.startProgram()
                try #require(await worker.logged("partitions.assigned"))
                try await shop.produce("old", 30)
                try await shop.waitForTokens(30)
                try await recreate(shop.topics.live, after: gap)
                let start = ContinuousClock.now
                // More than before, so that the new logs grow beyond where the old ones were left.
                try await shop.produce("new", 90)
                try await waitForEvents(shop, Set((0..<90).map { "new-\($0)" }))
                report(
                    "a topic created again after \(gap) s: 90 of 90 events answered within \(ContinuousClock.now - start)"
                )
                try await stop(worker)
            }
        }

        @Test(arguments: [0.2, 8])
        func `a topic that was created again and is shorter than before is no group that went back`(
            _ gap: Double
        ) async throws {
            try await Shop.open { shop in
                let worker = try shop.startProgram()
                try #require(await worker.logged("partitions.assigned"))
                try await shop.produce("old", 90)
                try await shop.waitForTokens(90)
                try await recreate(shop.topics.live, after: gap)
                try await shop.produce("new", 12)
                try await waitForEvents(shop, Set((0..<12).map { "new-\($0)" }))
                let scrape = try await AdminAPI(of: worker)
                #expect(try await scrape.total("remint_offset_setbacks_total") == 0)
                #expect(try await scrape.total("remint_log_regressions_total", [#"reason="replaced""#]) > 0)
                #expect(!worker.hasLogged("offsets.went-back") && worker.hasLogged("partition.recreated"))
                try await stop(worker)
            }
        }

        @Test func `a start that found another log or a loss reports it once, whatever starts come after it`()
            async throws
        {
            try await Shop.open { shop in
                try await answer(shop, "old", 30)
                try await recreate(shop.topics.live, after: 0.2)
                try await shop.produce("new", 12)
                try await shop.command("lanes", "pause", "live")
                let event = "partition.recreated"
                let reader = try Cluster.makeReader(of: [], group: shop.group)
                // As a worker of before left it, which knew the old log and committed nothing since.
                try await reader.commit(
                    shop.partitions(of: [shop.topics.live]).map {
                        PartitionOffset($0, offset: 5, metadata: "remint-version=0;first=0@1000;at=2000")
                    })
                await reader.close(within: .seconds(2))
                let worker = try shop.startProgram()
                try #require(await worker.logged(event))
                try await stop(worker)
                let next = try shop.startProgram()
                try #require(await next.logged("partitions.assigned"))
                try await shop.command("lanes", "resume", "live")
                try await waitForEvents(shop, Set((0..<12).map { "new-\($0)" }))
                let isToldTwice = next.hasLogged(event)
                #expect(!isToldTwice)
                try await stop(next)
            }
        }

        @Test func `a control topic that was created again is read from its start by a worker that runs`() async throws
        {
            try await Shop.open { shop in
                // So that the new log ends where the old one was read.
                let erased = ControlRecord(group: shop.group, app: "braze-ios", suspension: nil)
                try await shop.deliver([
                    ProducerRecord(topic: shop.topics.control, key: erased.key, value: erased.value)
                ])
                let worker = try shop.startProgram()
                try #require(await worker.logged("partitions.assigned"))
                try await recreate(shop.topics.control, after: 0.2)
                let start = ContinuousClock.now
                try await shop.command("apps", "pause", "braze-ios")
                try #require(await worker.logged("app.paused"), "\(worker.lastLines)")
                report("a control topic created again: a pause holds within \(ContinuousClock.now - start)")
                #expect(worker.hasLogged("control-topic.recreated"))
                try await stop(worker)
            }
        }

        @Test func `a topic that was created again while no worker ran is read from its beginning`() async throws {
            try await Shop.open { shop in
                try await answer(shop, "old", 30)
                try await recreate(shop.topics.live, after: 0.2)
                try await shop.produce("new", 90)
                let worker = try shop.startProgram()
                try await waitForEvents(shop, Set((0..<90).map { "new-\($0)" }))
                try await stop(worker)
            }
        }

        @Test(.enabled(if: Cluster.canDeleteRecords, Cluster.howToDeleteRecords))
        func `records that were deleted before they were read are counted`() async throws {
            try await Shop.open { shop in
                try await answer(shop, "old", 30)
                try await shop.produce("lost", 60)
                let partitions = shop.partitions(of: [shop.topics.live])
                let ends = try await TopicReader.ends(of: partitions)
                let committed = try await TopicReader.committed(partitions, by: shop.group)
                try await Cluster.deleteRecords(before: ends)
                let lost = ends.reduce(0) { $0 + $1.value - (committed[$1.key] ?? 0) }
                let worker = try shop.startProgram()
                #expect(await worker.logged("records.lost"))
                try await shop.produce("new", 30)
                try await waitForEvents(shop, Set((0..<30).map { "new-\($0)" }))
                let counted = try await AdminAPI(of: worker).total("remint_lost_records_total")
                #expect(counted == Double(lost) && lost >= 60)
                try await stop(worker)
            }
        }

        @Test(.enabled(if: Cluster.canAlterTopics, Cluster.howToAlterTopics))
        func `partitions that are added under load are answered within 35 seconds`() async throws {
            try await Shop.open { shop in
                let worker = try shop.startProgram()
                try #require(await worker.logged("partitions.assigned"))
                try await shop.produce("old", 30)
                try await shop.waitForTokens(30)
                try await Cluster.addPartitions(to: shop.topics.live, upTo: 12)
                let start = ContinuousClock.now
                // A producer of its own, which knows the new partitions.
                try await shop.produce("new", 300)
                try await waitForEvents(shop, Set((0..<300).map { "new-\($0)" }))
                let took = ContinuousClock.now - start
                report("6 partitions added: 300 events answered within \(took)")
                #expect(took < .seconds(35))
                try await stop(worker)
            }
        }

        @Test func `the older of two workers with one name exits with 75, and the newer goes on`() async throws {
            try await Shop.open(Shop.Wishes(kafka: ["instance: twin"])) { shop in
                let first = try shop.startProgram()
                try #require(await first.logged("partitions.assigned"))
                try await shop.produce("one", 30)
                try await shop.waitForTokens(30)
                let second = try shop.startProgram()
                try #require(await second.logged("partitions.assigned"))
                // The first one learns of it by its next transaction.
                try await shop.produce("two", 60)
                await first.waitForEnd()
                #expect(first.status == 75, "\(first.lastLines)")
                #expect(first.errorText.contains("fenced: "))
                #expect(first.errorText.contains("give each its own kafka.instance"))
                #expect(!first.hasLogged("kafka-clients.replaced"))
                try await shop.waitForTokens(90)
                #expect(second.status < 0, "the newer one exited: \(second.lastLines)")
                try await stop(second)
                let answers = try await answered(shop)
                #expect(Set(answers).count == 90)
                #expect(answers.count == 90)
            }
        }

        @Test func `a producer's clock half an hour ahead costs no signature, and no report lies in the future`()
            async throws
        {
            try await Shop.open { shop in
                // The records get this machine's time, half an hour ahead of the worker's.
                let behind: Int64 = 30 * 60
                let service = try shop.service(ahead: -behind)
                let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: quiet))
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await group.run() }
                    let partitions = shop.partitions(of: [shop.topics.live])
                    for number in 0..<8 {
                        try await shop.deliver([
                            EventMix.report(
                                "braze-ios", #"{"code":22,"userId":"one"}"#, id: "skew-\(number)",
                                topic: shop.topics.live, key: "one")
                        ])
                        try await TopicReader.waitUntilCommitted(partitions, by: shop.group)
                    }
                    await group.triggerGracefulShutdown()
                    try await tasks.waitForAll()
                }
                let tokens = try await shop.tokens()
                #expect((1...2).contains(tokens.count))
                let now = Int64(Date.now.timeIntervalSince1970 * 1_000) - behind * 1_000
                for token in tokens {
                    let reported = try #require(token.header("remint-reported-at").flatMap { Int64($0) })
                    #expect(reported <= now)
                }
            }
        }

        // MARK: Steps

        /// Has a worker answer `count` events, and stops it.
        private func answer(_ shop: Shop, _ name: String, _ count: Int) async throws {
            let worker = try shop.startProgram()
            try await shop.produce(name, count)
            try await shop.waitForTokens(count)
            try await stop(worker)
        }

        private func stop(_ worker: Program) async throws {
            worker.terminate()
            await worker.waitForEnd()
            #expect(worker.status == 0, "\(worker.lastLines)")
        }

        /// The events that tokens answer, one that has several as often.
        private func answered(_ shop: Shop) async throws -> [String] {
            try await shop.tokens().compactMap(\.eventID)
        }

        private func waitForEvents(_ shop: Shop, _ ids: Set<String>) async throws {
            let reader = try Cluster.makeReader(of: shop.partitions(of: [shop.topics.tokens]))
            var open = ids
            while !open.isEmpty {
                try Task.checkCancellation()
                for event in await reader.events(limit: 5000, within: .seconds(1)) {
                    if case .record(let record) = event, let id = record.eventID { open.remove(id) }
                }
            }
            await reader.close(within: .seconds(2))
        }

        /// Deletes `topic` and creates it again.
        ///
        /// - Parameter gap: the seconds between the two.
        private func recreate(_ topic: String, after gap: Double) async throws {
            let producer = try Cluster.makeProducer()
            try await producer.deleteTopics([topic], within: .seconds(30))
            try await pass(.seconds(gap))
            try await eventually("another topic \(topic)") {
                // The controller may still be about to forget it.
                do throws(KafkaError) {
                    try await producer.createTopic(topic, partitions: 6, within: .seconds(30))
                    return true
                } catch { return false }
            }
            await producer.close(within: .seconds(1))
        }
    }
}
