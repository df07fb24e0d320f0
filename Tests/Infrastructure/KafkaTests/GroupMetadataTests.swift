import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct GroupMetadataTests {
    private func offset(_ partition: Int32) -> PartitionOffset {
        PartitionOffset(TopicPartition(topic: "t", partition: partition), offset: 1)
    }

    private func refusal(_ consumer: KafkaConsumer, _ offsets: [PartitionOffset]) async -> KafkaError.Code? {
        do { _ = try await consumer.groupMetadata(committing: offsets) } catch { return error.code }
        return nil
    }

    @Test func `a transaction's offsets must be those of a member`() async throws {
        try await withBroker(topics: ["t": 2]) { broker in
            try await withConsumer(of: broker) { consumer in
                #expect(await refusal(consumer, [offset(0)]) == .unknownPartition)
                // A member whose partitions are on their way has none yet.
                let assigned = try await rebalance(of: consumer)
                #expect(await refusal(consumer, [offset(0)]) == .unknownPartition)
                try await consumer.answer(assigned)
                #expect(await refusal(consumer, [offset(0), offset(1)]) == nil)
                #expect(await refusal(consumer, [offset(0), offset(7)]) == .unknownPartition)
            }
        }
    }

    @Test func `a consumer that has joined no group has no metadata for a transaction`() async throws {
        let properties: ClientProperties = ["bootstrap.servers": "127.0.0.1:1", "group.id": "g"]
        let unjoined = try KafkaConsumer(properties, topics: ["t"], logger: silent)
        #expect(await refusal(unjoined, []) == .unknownMemberID)
        #expect(await unjoined.close(within: patience))
    }

    @Test func `offsets of a lost assignment are refused`() async throws {
        try await withBroker(topics: ["t": 2]) { broker in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                try await broker.inject(.errors(.heartbeat, [.unknownMemberID]))
                let lost = try await rebalance(of: consumer)
                #expect(await refusal(consumer, [offset(0)]) == .assignmentLost)
                try await consumer.answer(lost)
                #expect(await refusal(consumer, [offset(0)]) == .unknownPartition)
                try await join(consumer)
                #expect(await refusal(consumer, [offset(0)]) == nil)
            }
        }
    }

    @Test func `offsets of a closed consumer are refused`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
            try await join(consumer)
            #expect(await consumer.close(within: patience))
            #expect(await refusal(consumer, [offset(0)]) == .assignmentLost)
            #expect(await refusal(consumer, []) == .assignmentLost)
        }
    }
}
