import Kafka
import Testing

/// Members whose place a group keeps (KIP-345).
@Suite(.timeLimit(.minutes(5))) struct StaticMemberTests {
    private func properties(_ broker: EmbeddedBroker) -> ClientProperties {
        consumerProperties(broker, group: "g").merging(["group.instance.id": "worker-0"])
    }

    @Test(arguments: [true, false])
    func `a static member closes in every state`(keepsPlace: Bool) async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let unjoined = try KafkaConsumer(properties(broker), topics: ["t"], logger: silent)
            #expect(await unjoined.close(within: patience, keepsPlace: keepsPlace))
            let unanswered = try KafkaConsumer(properties(broker), topics: ["t"], logger: silent)
            #expect(try await rebalance(of: unanswered).kind == .assigned)
            #expect(await unanswered.close(within: patience, keepsPlace: keepsPlace))
            let joined = try KafkaConsumer(properties(broker), topics: ["t"], logger: silent)
            try await join(joined)
            #expect(await joined.close(within: patience, keepsPlace: keepsPlace))
        }
    }

    @Test func `a static member closes while the broker is down`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(properties(broker), topics: ["t"], logger: silent)
            try await join(consumer)
            try await broker.inject(.brokerDown(1))
            #expect(await consumer.close(within: patience))
        }
    }

    @Test func `a member whose place another took is fenced for good`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let consumer = try KafkaConsumer(properties(broker), topics: ["t"], logger: silent)
            try await join(consumer)
            try await broker.inject(.memberFenced)
            var found: KafkaError?
            while found == nil {
                try Task.checkCancellation()
                for event in await consumer.events(limit: 100, within: .seconds(1)) {
                    if case .error(let error) = event, error.isFatal { found = error }
                }
            }
            #expect(found?.code == .fencedInstance)
            #expect(found?.isFenced == true)
            let place = PartitionOffset(TopicPartition(topic: "t", partition: 0), offset: 1)
            let later = await #expect(throws: KafkaError.self) { try await consumer.commit([place]) }
            #expect(later?.isFenced == true, "\(String(describing: later))")
            #expect(await consumer.close(within: patience))
        }
    }
}
