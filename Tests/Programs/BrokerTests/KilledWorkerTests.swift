import AsyncTestSupport
import Glibc
import Kafka
import Testing

extension BrokerTests {
    /// Workers that end without a goodbye, at any moment.
    @Suite(.timeLimit(.minutes(5))) struct KilledWorkerTests {
        @Test func `killing one of two workers at random moments under load loses and doubles nothing`() async throws {
            try await Stage.play(workers: 2) { stage in
                var random = SeededGenerator(seed: Cluster.seed)
                let share = Cluster.events / Cluster.rounds
                let start = ContinuousClock.now
                for round in 0..<Cluster.rounds {
                    let moment = random.moment(0...5000)
                    let worker = stage.workers[Int.random(in: 0...1, using: &random)]
                    async let feeding: Void = stage.feed.send(share, over: .seconds(7))
                    try await pass(moment)
                    await worker.end(by: SIGKILL, code: 128 + SIGKILL)
                    try await worker.waitForPartitions()
                    try await feeding
                    report("round \(round): \(stage.ledger.answered) answered, \(stage.ledger.open.count) open")
                    #expect(stage.ledger.repeats == 0, "round \(round)")
                }
                try await stage.ledger.waitUntilAnswered()
                let during = Double(stage.ledger.answered) / ((.now - start) / .seconds(1))
                let burst = max(1, Cluster.events / 5), calm = ContinuousClock.now
                try await stage.feed.send(burst)
                try await stage.ledger.waitUntilAnswered()
                let after = Double(burst) / ((.now - calm) / .seconds(1))
                let audit = try await stage.settle()
                audit.expectExactlyOnce()
                report(
                    "\(Cluster.rounds) kills, \(audit.events) events: \(Int(during))/s during, \(Int(after))/s after; "
                        + "\(audit.aborted) outcomes were aborted and are not visible")
                try await expectCommitted(stage.shop)
            }
        }

        @Test(arguments: 0..<3)
        func `exactly the events below the committed offsets have an outcome after a kill`(_ round: Int) async throws {
            try await Stage.play(workers: 2) { stage in
                var random = SeededGenerator(seed: Cluster.seed &+ UInt64(round))
                try await stage.feed.send(5000)
                let open = Int.random(in: 1000...4900, using: &random)
                try await stage.ledger.wait { $0.count <= open }
                try await pass(random.moment(0...100))
                await stage.abandon()
                let watch = try StabilityWatch(stage.shop.partitions(of: stage.shop.topics.outcomes))
                try await watch.waitUntilStable()
                await watch.close()
                let inputs = stage.shop.partitions(of: [stage.shop.topics.live])
                let offsets = try await TopicReader.committed(inputs, by: stage.shop.group)
                let done = try await TopicReader.records(of: inputs).filter {
                    $0.position.offset < offsets[TopicPartition($0.position)] ?? 0
                }.compactMap(\.eventID)
                let audit = try await Audit(stage.shop)
                #expect(audit.answered.sorted() == done.sorted())
                #expect(!done.isEmpty)
                report(
                    "killed after \(done.count) of \(audit.events) events; "
                        + "\(audit.aborted) outcomes were aborted and are not visible")
            }
        }

        /// The live group has read everything, and the broker knows.
        private func expectCommitted(_ shop: Shop) async throws {
            let partitions = shop.partitions(of: [shop.topics.live])
            let ends = try await TopicReader.ends(of: partitions)
            #expect(try await TopicReader.committed(partitions, by: shop.group) == ends)
        }
    }
}

extension TopicPartition {
    fileprivate init(_ position: RecordPosition) {
        self.init(topic: position.topic, partition: position.partition)
    }
}
