import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConsumerGroupTests {
    private let partition = TopicPartition(topic: "t", partition: 0)

    @Test(arguments: ["range", "cooperative-sticky"])
    func `two members share the partitions, and one gets all when the other leaves`(strategy: String) async throws {
        try await withBroker(topics: ["t": 4]) { broker in
            let properties: ClientProperties = ["partition.assignment.strategy": strategy]
            try await withConsumer(of: broker, properties) { stays in
                try await withConsumer(of: broker, properties) { leaves in
                    while await (stays.assignedPartitions.count, leaves.assignedPartitions.count) != (2, 2) {
                        try await answerRebalance(of: stays)
                        try await answerRebalance(of: leaves)
                    }
                    #expect(await stays.assignedPartitions.isDisjoint(with: leaves.assignedPartitions))
                    #expect(await !stays.isAssignmentLost)
                    #expect(await leaves.close(within: patience))
                    while await stays.assignedPartitions.count != 4 { try await answerRebalance(of: stays) }
                }
            }
        }
    }

    /// Waits for the next events of a member, and answers a rebalance among them.
    private func answerRebalance(of consumer: KafkaConsumer) async throws {
        for case .rebalance(let rebalance) in await consumer.events(limit: 100, within: .milliseconds(100)) {
            try await consumer.answer(rebalance)
        }
    }

    @Test func `a consumer reports assigned and revoked partitions, and a lost assignment`() async throws {
        try await withBroker(topics: ["t": 2]) { broker in
            try await withConsumer(of: broker) { consumer in
                let both = (0..<2).map { TopicPartition(topic: "t", partition: $0) }
                let assigned = try await rebalance(of: consumer)
                #expect(assigned.kind == .assigned)
                #expect(Set(assigned.partitions) == Set(both))
                #expect(await consumer.assignedPartitions.isEmpty)
                try await consumer.answer(assigned)
                #expect(await consumer.assignedPartitions == Set(both))

                try await broker.inject(.errors(.heartbeat, [.unknownMemberID]))
                let revoked = try await rebalance(of: consumer)
                #expect(revoked.kind == .revoked(isLost: true))
                #expect(Set(revoked.partitions) == Set(both))
                #expect(await consumer.isAssignmentLost)
                try await consumer.answer(revoked)
                #expect(await consumer.assignedPartitions.isEmpty)
                #expect(await !consumer.isAssignmentLost)
            }
        }
    }

    @Test func `a consumer resumes where its group committed`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(10)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                #expect(try await consume(4, from: consumer).compactMap(\.number) == [0, 1, 2, 3])
                try await consumer.commit([])
                try await consumer.commit([PartitionOffset(partition, offset: 4)])
            }
            try await withConsumer(of: broker) { consumer in
                let consumed = try await consume(6, from: consumer)
                #expect(consumed.compactMap(\.number) == Array(4..<10))
            }
            try await withConsumer(of: broker, ["group.id": "another"]) { consumer in
                let consumed = try await consume(10, from: consumer)
                #expect(consumed.compactMap(\.number) == Array(0..<10))
            }
        }
    }

    @Test(arguments: [
        (EmbeddedBroker.ResponseError.illegalGeneration, KafkaError.Code.illegalGeneration),
        (.unknownMemberID, .unknownMemberID), (.rebalanceInProgress, .rebalanceInProgress),
        (.topicAuthorizationFailed, .topicAuthorizationFailed),
    ])
    func `a consumer reports why offsets were not committed`(
        injected: EmbeddedBroker.ResponseError, code: KafkaError.Code
    ) async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                try await broker.inject(.errors(.offsetCommit, [injected]))
                let error = await #expect(throws: KafkaError.self) {
                    try await consumer.commit([PartitionOffset(partition, offset: 1)])
                }
                #expect(error?.code == code)
                #expect(error?.isFatal == false)
                #expect(error?.requiresAbort == false)
                #expect(error?.isFenced == false)
            }
        }
    }

    @Test(arguments: [EmbeddedBroker.ResponseError.coordinatorNotAvailable, .notCoordinator])
    func `a consumer commits after a passing error`(error: EmbeddedBroker.ResponseError) async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                try await broker.inject(.errors(.offsetCommit, [error]))
                try await consumer.commit([PartitionOffset(partition, offset: 1)])
            }
        }
    }
}
