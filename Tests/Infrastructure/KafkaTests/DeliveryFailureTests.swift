import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct DeliveryFailureTests {
    @Test func `a producer delivers more records than its queue holds`() async throws {
        try await withProducer(["queue.buffering.max.messages": "10"]) { _, producer in
            let outcome = await producer.deliver(numbered(1000))
            #expect(outcome.count == 1000)
            #expect(outcome.allSatisfy { $0 == nil })
        }
    }

    @Test(arguments: [
        // A topic's fault shows in metadata alone, and only an absent topic ends a record before it is sent.
        (EmbeddedBroker.Fault.topic("t", .unknownTopicOrPartition), KafkaError.Code.unknownTopicOrPartition),
        (.errors(.produce, [.topicAuthorizationFailed]), .topicAuthorizationFailed),
        (.errors(.produce, [.messageTooLarge]), .messageTooLarge),
    ])
    func `a producer reports why a record was not delivered`(fault: EmbeddedBroker.Fault, code: KafkaError.Code)
        async throws
    {
        try await withProducer(["topic.metadata.propagation.max.ms": "0"]) { broker, producer in
            try await broker.inject(fault)
            let outcome = await producer.deliver([ProducerRecord(topic: "t", key: nil, value: [1])])
            #expect(outcome.map { $0?.code } == [code])
        }
    }

    @Test func `a producer delivers again once a topic's fault is over`() async throws {
        try await withProducer { broker, producer in
            let record = ProducerRecord(topic: "t", key: nil, value: [1])
            try await broker.inject(.errors(.produce, [.messageTooLarge]))
            #expect(await producer.deliver([record]).map { $0?.code } == [.messageTooLarge])
            #expect(await producer.deliver([record]) == [nil])
        }
    }

    @Test(arguments: [EmbeddedBroker.ResponseError.notLeader, .requestTimedOut, .connectionDropped])
    func `a producer delivers after a passing error`(error: EmbeddedBroker.ResponseError) async throws {
        try await withProducer(["retry.backoff.ms": "10", "reconnect.backoff.ms": "10"]) { broker, producer in
            try await broker.inject(.errors(.produce, [error]))
            #expect(await producer.deliver([ProducerRecord(topic: "t", key: nil, value: [1])]) == [nil])
        }
    }

    @Test func `a producer gives up on records after message.timeout.ms while the broker is down`() async throws {
        try await withProducer(["message.timeout.ms": "300"]) { broker, producer in
            try await broker.inject(.brokerDown(1))
            let outcome = await producer.deliver(numbered(10))
            #expect(outcome.map { $0?.code } == Array(repeating: .messageTimedOut, count: 10))
        }
    }

    @Test func `a producer gives up on records that find no room while the broker is down`() async throws {
        let properties: ClientProperties = ["message.timeout.ms": "300", "queue.buffering.max.messages": "10"]
        try await withProducer(properties) { broker, producer in
            try await broker.inject(.brokerDown(1))
            let outcome = await producer.deliver(numbered(25))
            #expect(outcome.map { $0?.code } == Array(repeating: .messageTimedOut, count: 25))
        }
    }

    @Test func `a producer delivers records that waited for a broker that comes back`() async throws {
        try await withProducer(["reconnect.backoff.ms": "10", "reconnect.backoff.max.ms": "50"]) { broker, producer in
            #expect(await producer.deliver(numbered(1)) == [nil])
            try await broker.inject(.brokerDown(1))
            async let outcome = producer.deliver(numbered(5))
            try await broker.inject(.brokerUp(1))
            #expect(await outcome == Array(repeating: nil, count: 5))
        }
    }
}
