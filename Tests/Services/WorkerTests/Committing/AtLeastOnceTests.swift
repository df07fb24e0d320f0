import Kafka
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Wiring
@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct AtLeastOnceTests {
    /// The committer's reports of blockages, to wait for: a topic, or nil once there is none.
    private struct Blockages: Sendable {
        private let stream: AsyncStream<String?>
        private let continuation: AsyncStream<String?>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func note(_ blockage: Blockage?) { continuation.yield(blockage?.topic) }

        func next() async -> String? {
            for await said in stream { return said }
            return nil
        }
    }

    private func with(
        kafka: [String] = [],
        _ body: (CommitBench, AtLeastOnceCommitter, CommitWindow, Blockages) async throws -> Void
    ) async throws {
        try await CommitBench.with(joining: Lane.allCases, kafka: kafka) { bench in
            let producer = try KafkaProducer(bench.properties.producer, logger: silent)
            let window = CommitWindow()
            let blockages = Blockages()
            let committer = AtLeastOnceCommitter(
                producer: producer, consumers: bench.consumers, configuration: bench.configuration,
                now: { Events.now }, window: window, isBlocked: { blockages.note($0) }, isRefused: { _, _ in })
            do {
                try await body(bench, committer, window, blockages)
                await producer.close(within: .zero)
            } catch {
                await producer.close(within: .zero)
                throw error
            }
        }
    }

    private func committed(_ bench: CommitBench, _ lane: Lane) async throws -> Int64? {
        let partition = TopicPartition(topic: bench.configuration.topics(of: lane)[0], partition: 0)
        return try await bench.consumers[lane].committed([partition], within: WorkerTestSupport.patience)[partition]
    }

    /// Delivers `unit`, and commits its offsets.
    private func commit(_ unit: CommitUnit, by committer: AtLeastOnceCommitter) async -> Ended {
        let result = Ended(await committer.commit(unit))
        await committer.commitOffsets()
        #expect(await !committer.hasOpenOffsets)
        return result
    }

    @Test func `everything is delivered, then every lane's offsets are committed`() async throws {
        try await with { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit([
                events.challenge(1), events.garbage(), events.garbage(lane: .retries), events.challenge(2, lane: .bulk),
            ])
            #expect(Ended(await committer.commit(unit)) == .committed)
            #expect(await committer.hasOpenOffsets)
            await committer.commitOffsets()
            #expect(try await committed(bench, .live) == 2)
            #expect(try await committed(bench, .retries) == 1)
            #expect(try await committed(bench, .bulk) == 1)
        }
    }

    @Test func `a topic that cannot be written is waited for and reported, and nothing is committed meanwhile`()
        async throws
    {
        try await with(kafka: ["message.timeout.ms: 3000"]) { bench, committer, _, blockages in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.challenge(1), events.garbage()])
            let topic = bench.configuration.topics.deadLetters
            try await bench.broker.inject(.topic(topic, .topicAuthorizationFailed))
            async let result = commit(unit, by: committer)
            #expect(await blockages.next() == topic)
            #expect(try await committed(bench, .live) == nil)
            try await bench.broker.inject(.topic(topic, nil))
            #expect(await result == .committed)
            // It says so again with each try, and at last that it is over.
            while let said = await blockages.next() { #expect(said == topic) }
            #expect(try await committed(bench, .live) == 2)
        }
    }

    /// librdkafka remembers for a while what it heard of a topic.
    @Test func `a topic that may be written again is written soon`() async throws {
        try await with { bench, committer, _, blockages in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.garbage()])
            #expect(Ended(await committer.commit(unit)) == .committed)
            try await bench.broker.inject(.errors(.produce, [.topicAuthorizationFailed]))
            #expect(Ended(await committer.commit(unit)) == .committed)
            while let said = await blockages.next() { #expect(said == bench.configuration.topics.deadLetters) }
        }
    }

    @Test func `a committer whose wait is over gives up, and commits nothing`() async throws {
        try await with(kafka: ["message.timeout.ms: 3000"]) { bench, committer, window, blockages in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.garbage()])
            let topic = bench.configuration.topics.deadLetters
            try await bench.broker.inject(.topic(topic, .topicAuthorizationFailed))
            async let result = commit(unit, by: committer)
            #expect(await blockages.next() == topic)
            window.isOver = true
            #expect(await result == .aborted("_MSG_TIMED_OUT"))
            #expect(try await committed(bench, .live) == nil)
        }
    }

    @Test func `tokens that the broker refuses for their time are minted again, and not sent again`() async throws {
        try await with { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.garbage()])
            try await bench.broker.inject(.timeRefused)
            #expect(await commit(unit, by: committer) == .aborted("INVALID_TIMESTAMP"))
            #expect(try await committed(bench, .live) == nil)
        }
    }

    @Test func `a record that is too large becomes smaller, and no other does`() async throws {
        try await with(kafka: ["message.max.bytes: 2000"]) { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit([
                events.challenge(1), events.garbage(bytes: 5000), events.garbage(),
            ])
            let result = await committer.commit(unit)
            await committer.commitOffsets()
            guard case .committed(let committed) = result else {
                Issue.record("\(Ended(result))")
                return
            }
            #expect(committed.ends.map { $0.settlement.output?.value == nil } == [false, true, false])
            #expect(try await self.committed(bench, .live) == 3)
        }
    }

    @Test func `records that the broker refuses together and accepts alone stay as they are`() async throws {
        try await with { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit((0..<5).map { _ in events.garbage() })
            try await bench.broker.inject(.errors(.produce, [.messageTooLarge]))
            let result = await committer.commit(unit)
            guard case .committed(let committed) = result else {
                Issue.record("\(Ended(result))")
                return
            }
            #expect(committed.ends.allSatisfy { $0.settlement.output?.value != nil })
        }
    }

    @Test func `events added to a running delivery are delivered, and their offsets are committed`() async throws {
        try await with { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.garbage()])
            let additions = Additions()
            #expect(additions.offer(try await events.unit([events.garbage(), events.garbage()])))
            let result = await committer.commit(unit, additions)
            await committer.commitOffsets()
            guard case .committed(let committed) = result else {
                Issue.record("\(Ended(result))")
                return
            }
            #expect(committed.ends.map(\.record.origin.offset) == [0, 1, 2])
            #expect(try await self.committed(bench, .live) == 3)
        }
    }

    @Test func `offsets that cannot be committed are no reason to publish twice`() async throws {
        try await with { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.garbage()])
            try await bench.broker.inject(.errors(.offsetCommit, [.topicAuthorizationFailed]))
            #expect(await commit(unit, by: committer) == .committed)
            #expect(try await committed(bench, .live) == 1, "they are tried again")
            let next = try await events.unit([events.garbage()])
            #expect(await commit(next, by: committer) == .committed)
            #expect(try await committed(bench, .live) == 2)
        }
    }

    @Test func `nothing is committed for an assignment that was lost`() async throws {
        try await with { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.garbage()])
            try await bench.lose(.live)
            #expect(await commit(unit, by: committer) == .committed)
            #expect(try await committed(bench, .live) == nil)
        }
    }

    @Test func `the offsets of a partition that was given away are for its new member to commit`() async throws {
        try await with { bench, committer, _, _ in
            var events = Events(bench.configuration)
            let unit = try await events.unit([events.garbage(), events.garbage(partition: 1)])
            let topic = bench.configuration.topics(of: .live)[0]
            let partitions = (0..<2).map { TopicPartition(topic: topic, partition: $0) }
            let kept = Rebalance(kind: .assigned, partitions: [partitions[0]])
            try await bench.consumers[.live].answer(kept, from: [partitions[0]: 0])
            #expect(await commit(unit, by: committer) == .committed)
            let offsets = try await bench.consumers[.live].committed(partitions, within: WorkerTestSupport.patience)
            #expect(offsets == [partitions[0]: 1])
        }
    }
}
