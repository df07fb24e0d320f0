import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct OffsetTests {
    private let partitions = (0..<2).map { TopicPartition(topic: "t", partition: $0) }

    @Test func `a consumer knows the ends of the partitions it fetched from, and they grow`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(10)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                #expect(await consumer.knownEnds.isEmpty)
                _ = try await consume(3, from: consumer)
                #expect(await consumer.knownEnds == [partitions[0]: 10])
                #expect(await producer.deliver(numbered(5)).allSatisfy { $0 == nil })
                _ = try await consume(12, from: consumer)
                #expect(await consumer.knownEnds == [partitions[0]: 15])
                // A lost partition is none of its own.
                try await broker.inject(.errors(.heartbeat, [.unknownMemberID]))
                try await consumer.answer(rebalance(of: consumer))
                #expect(await consumer.knownEnds.isEmpty)
            }
        }
    }

    @Test func `a consumer returns a partition's bounds and its group's committed offsets`() async throws {
        try await withProducer(topics: ["t": 2]) { broker, producer in
            let records = (0..<6).map { ProducerRecord(topic: "t", key: text("one key"), value: text("\($0)")) }
            #expect(await producer.deliver(records).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                let consumed = try await consume(6, from: consumer)
                let full = try #require(consumed.first.map { Int($0.position.partition) })
                #expect(try await consumer.bounds(of: partitions[full], within: patience) == 0..<6)
                #expect(try await consumer.bounds(of: partitions[1 - full], within: patience) == 0..<0)
                #expect(try await consumer.committed(partitions, within: patience).isEmpty)
                try await consumer.commit([PartitionOffset(partitions[full], offset: 4)])
                #expect(try await consumer.committed(partitions, within: patience) == [partitions[full]: 4])
                #expect(
                    try await consumer.bounds(of: partitions, within: patience)
                        == [partitions[full]: 0..<6, partitions[1 - full]: 0..<0])
                #expect(
                    try await consumer.lag(of: partitions, within: patience)
                        == [partitions[full]: 2, partitions[1 - full]: 0])
                #expect(try await consumer.lag(of: [], within: .zero).isEmpty)
            }
        }
    }

    @Test func `a consumer's query of offsets fails if nobody answers`() async throws {
        let properties: ClientProperties = ["bootstrap.servers": "127.0.0.1:1", "group.id": "g"]
        let consumer = try KafkaConsumer(properties, topics: ["t"], logger: silent)
        await #expect(throws: KafkaError.self) {
            try await consumer.bounds(of: partitions[0], within: .milliseconds(200))
        }
        await #expect(throws: KafkaError.self) { try await consumer.committed(partitions, within: .milliseconds(200)) }
        #expect(await consumer.close(within: patience))
    }
}
