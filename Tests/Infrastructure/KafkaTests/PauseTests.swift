import AsyncTestSupport
import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct PauseTests {
    private let partitions = (0..<2).map { TopicPartition(topic: "t", partition: $0) }

    /// Returns the next `count` records of `consumer`.
    private func take(_ count: Int, from consumer: KafkaConsumer) async throws -> [ConsumedRecord] {
        try await consume(count, from: consumer)
    }

    @Test(arguments: [1, 7, 1000]) func `no record is lost or doubled over many pauses`(limit: Int) async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(400)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                var seen: [ConsumedRecord] = []
                var round = 0
                while seen.count < 400 {
                    try Task.checkCancellation()
                    round += 1
                    let paused = partitions[round % 2]
                    try await consumer.pause([paused])
                    // A second pause and a resumption of what is not paused change nothing.
                    try await consumer.pause([paused])
                    try await consumer.resume([partitions[(round + 1) % 2]])
                    for event in await consumer.events(limit: limit, within: .milliseconds(20)) {
                        guard case .record(let record) = event else { continue }
                        #expect(record.position.partition != paused.partition)
                        seen.append(record)
                    }
                    try await consumer.resume([paused])
                }
                #expect(Set(seen.map(\.position)).count == 400)
                for partition in partitions {
                    let offsets = seen.filter { $0.position.partition == partition.partition }.map(\.position.offset)
                    #expect(offsets == Array(0..<Int64(offsets.count)))
                }
                #expect(await consumer.events(limit: 10, within: .milliseconds(100)).isEmpty)
            }
        }
    }

    @Test(arguments: [1, 7, 1000])
    func `the end of a partition comes after all records before it, over many pauses`(limit: Int) async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(400)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker, ["enable.partition.eof": "true"]) { consumer in
                try await join(consumer)
                var (seen, ended, round): ([TopicPartition: Int64], Set<TopicPartition>, Int) = ([:], [], 0)
                while ended.count < 2 {
                    try Task.checkCancellation()
                    round += 1
                    let paused = partitions[round % 2]
                    try await consumer.pause([paused])
                    for event in await consumer.events(limit: limit, within: .milliseconds(20)) {
                        switch event {
                        case .record(let record): seen[TopicPartition(record.position), default: 0] += 1
                        case .endOfPartition(let partition, let end):
                            #expect(seen[partition] == end, "\(partition)")
                            ended.insert(partition)
                        case .rebalance, .error: break
                        }
                    }
                    try await consumer.resume([paused])
                }
                #expect(seen.values.reduce(0, +) == 400)
            }
        }
    }

    @Test func `no record of a paused partition comes, not even a fetched one`() async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(200)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                // Everything is fetched by the time the first records came.
                let first = try await take(5, from: consumer)
                try await consumer.pause(partitions)
                #expect(await consumer.events(limit: 1000, within: .milliseconds(300)).isEmpty)
                try await consumer.resume(partitions)
                let rest = try await take(195, from: consumer)
                #expect(Set((first + rest).map(\.position)).count == 200)
            }
        }
    }

    @Test func `pauses amid the search for a partition's start do not lead back to it`() async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(200)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                var seen: [ConsumedRecord] = []
                // Time and again, so that one of them comes while the first answer is under way.
                while seen.isEmpty {
                    try Task.checkCancellation()
                    try await consumer.pause(partitions)
                    try await consumer.resume(partitions)
                    seen += records(of: await consumer.events(limit: 1, within: .milliseconds(1)))
                }
                seen += try await take(200 - seen.count, from: consumer)
                #expect(Set(seen.map(\.position)).count == 200)
                // The library would ask again after half a second.
                #expect(await consumer.events(limit: 10, within: .seconds(1)).isEmpty)
            }
        }
    }

    @Test func `a record that comes once its partition rests is kept for the resumption`() async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(200)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                try await consumer.pause(partitions)
                #expect(await consumer.events(limit: 1000, within: .seconds(1)).isEmpty)
                try await consumer.resume(partitions)
                let all = try await take(200, from: consumer)
                for partition in partitions {
                    let offsets = all.filter { $0.position.partition == partition.partition }.map(\.position.offset)
                    #expect(offsets == Array(0..<Int64(offsets.count)))
                }
                #expect(await consumer.events(limit: 10, within: .milliseconds(700)).isEmpty)
            }
        }
    }

    private func records(of events: [KafkaConsumer.Event]) -> [ConsumedRecord] {
        events.compactMap { if case .record(let record) = $0 { record } else { nil } }
    }

    @Test func `a pause of a partition that is not the consumer's own changes nothing`() async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(10)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                let foreign = [TopicPartition(topic: "t", partition: 9), TopicPartition(topic: "u", partition: 0)]
                // Before there are any, and afterwards.
                try await consumer.pause(partitions)
                try await consumer.resume(partitions)
                try await join(consumer)
                try await consumer.pause(foreign)
                try await consumer.resume(foreign)
                try await consumer.pause([])
                #expect(try await take(10, from: consumer).count == 10)
            }
        }
    }

    @Test func `a partition that comes back is not paused`() async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(50)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                try await consumer.pause(partitions)
                try await broker.inject(.errors(.heartbeat, [.unknownMemberID]))
                let revoked = try await rebalance(of: consumer)
                #expect(revoked.kind == .revoked(isLost: true))
                try await consumer.answer(revoked)
                try await join(consumer)
                #expect(try await take(50, from: consumer).count == 50)
                // It is not taken for paused either: another pause counts.
                try await consumer.pause(partitions)
                #expect(await producer.deliver(numbered(5)).allSatisfy { $0 == nil })
                #expect(await consumer.events(limit: 10, within: .milliseconds(300)).isEmpty)
                try await consumer.resume(partitions)
                #expect(try await take(5, from: consumer).count == 5)
            }
        }
    }

    @Test func `a pause outlives seeks and commits`() async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            #expect(await producer.deliver(numbered(100)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                _ = try await take(100, from: consumer)
                try await consumer.pause([partitions[0]])
                try await consumer.commit([PartitionOffset(partitions[0], offset: 1)])
                try await consumer.seek(to: partitions.map { PartitionOffset($0, offset: 0) })
                let ends = await consumer.knownEnds
                let open = try #require(ends[partitions[1]])
                let other = try await take(Int(open), from: consumer)
                #expect(other.allSatisfy { $0.position.partition == 1 })
                #expect(await consumer.events(limit: 10, within: .milliseconds(200)).isEmpty)
                try await consumer.resume([partitions[0]])
                let held = try await take(100 - Int(open), from: consumer)
                #expect(held.map(\.position.offset) == Array(0..<(100 - open)))
            }
        }
    }

    @Test func `a consumer kept alive keeps its partitions without taking records`() async throws {
        try await withProducer(topics: ["t": 1]) { broker, producer in
            #expect(await producer.deliver(numbered(3)).allSatisfy { $0 == nil })
            let properties: ClientProperties = ["session.timeout.ms": "6000", "max.poll.interval.ms": "6000"]
            try await withConsumer(of: broker, properties) { consumer in
                try await join(consumer)
                // For longer than a consumer may go without a poll.
                let end = ContinuousClock.now + .seconds(9)
                try await eventually("the end of nine seconds") {
                    await consumer.keepAlive()
                    return .now >= end
                }
                #expect(await !consumer.isAssignmentLost)
                #expect(try await take(3, from: consumer).compactMap(\.number) == [0, 1, 2])
            }
        }
    }
}
