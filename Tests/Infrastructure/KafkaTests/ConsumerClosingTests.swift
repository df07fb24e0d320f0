import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConsumerClosingTests {
    @Test func `a consumer closes twice`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
            async let first = consumer.close(within: patience)
            async let second = consumer.close(within: patience)
            #expect(await (first, second) == (true, true))
            #expect(await consumer.close(within: patience))
        }
    }

    @Test func `a closed consumer reports no events and refuses every call`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
            let assigned = try await rebalance(of: consumer)
            try await consumer.answer(assigned)
            #expect(await consumer.close(within: patience))
            #expect(await consumer.events(limit: 1, within: .seconds(50)).isEmpty)
            let offsets = [PartitionOffset(TopicPartition(topic: "t", partition: 0), offset: 1)]
            let calls: [(KafkaConsumer) async throws -> Void] = [
                { try await $0.answer(assigned) }, { try await $0.commit(offsets) }, { try await $0.seek(to: offsets) },
                { _ = try await $0.groupMetadata() }, { _ = try await $0.metadata(of: "t", within: .seconds(1)) },
            ]
            for call in calls {
                let error = await #expect(throws: KafkaError.self) { try await call(consumer) }
                #expect(error?.code == .closed)
            }
            // Nothing may be committed for it.
            #expect(await consumer.isAssignmentLost)
        }
    }

    @Test func `a consumer closes while a rebalance is unanswered`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
            #expect(try await rebalance(of: consumer).kind == .assigned)
            #expect(await consumer.close(within: patience))
        }
    }

    @Test func `a consumer closes while a revocation is unanswered`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
            try await join(consumer)
            try await broker.inject(.errors(.heartbeat, [.unknownMemberID]))
            #expect(try await rebalance(of: consumer).kind == .revoked(isLost: true))
            #expect(await consumer.close(within: patience))
        }
    }

    @Test func `a consumer closes while the broker is down`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
            try await join(consumer)
            try await broker.inject(.brokerDown(1))
            #expect(await consumer.close(within: patience))
        }
    }

    @Test func `a consumer closes without a broker`() async throws {
        let properties: ClientProperties = ["bootstrap.servers": "127.0.0.1:1", "group.id": "g"]
        let consumer = try KafkaConsumer(properties, topics: ["t"], logger: silent)
        #expect(await consumer.close(within: patience))
    }
}
