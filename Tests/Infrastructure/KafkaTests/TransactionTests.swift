import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct TransactionTests {
    @Test func `records are committed together with the offsets of a subscribed consumer`() async throws {
        try await withProducer(topics: ["t": 1, "out": 1], ["transactional.id": "x"]) { broker, producer in
            try await producer.initTransactions(within: patience)
            try await producer.beginTransaction()
            #expect(await producer.deliver(numbered(10)).allSatisfy { $0 == nil })
            try await producer.commitTransaction()
            try await withConsumer(of: broker) { consumer in
                let consumed = try await consume(10, from: consumer)
                try await producer.beginTransaction()
                let outputs = consumed.map { ProducerRecord(topic: "out", key: $0.key, value: $0.value) }
                #expect(await producer.deliver(outputs).allSatisfy { $0 == nil })
                let offset = PartitionOffset(TopicPartition(topic: "t", partition: 0), offset: 10)
                try await producer.sendOffsets([offset], of: consumer.groupMetadata(), within: patience)
                try await producer.commitTransaction()
            }
            try await withConsumer(of: broker, topics: ["out"], ["group.id": "outputs"]) { consumer in
                let consumed = try await consume(10, from: consumer)
                #expect(consumed.compactMap(\.number) == Array(0..<10))
            }
        }
    }

    @Test func `a producer begins a new transaction after an abort`() async throws {
        try await withProducer(["transactional.id": "x"]) { _, producer in
            try await producer.initTransactions(within: patience)
            for _ in 0..<3 {
                try await producer.beginTransaction()
                #expect(await producer.deliver(numbered(2)) == [nil, nil])
                try await producer.abortTransaction()
                try await producer.beginTransaction()
                try await producer.commitTransaction()
            }
        }
    }

    @Test func `transaction calls out of order are refused`() async throws {
        try await withProducer(["transactional.id": "x"]) { _, producer in
            let before = await #expect(throws: KafkaError.self) { try await producer.beginTransaction() }
            #expect(before?.code == .invalidState)
            try await producer.initTransactions(within: patience)
            for call in [producer.commitTransaction, producer.abortTransaction] {
                for limit in [nil, patience] {
                    let error = await #expect(throws: KafkaError.self) { try await call(limit) }
                    #expect(error?.code == .invalidState)
                }
            }
            try await producer.beginTransaction()
            let twice = await #expect(throws: KafkaError.self) { try await producer.beginTransaction() }
            #expect(twice?.code == .invalidState)
            #expect(twice?.isRetriable == false && twice?.isFatal == false && twice?.requiresAbort == false)
            try await producer.abortTransaction()
        }
    }

    @Test func `transactions without a transactional id are refused`() async throws {
        try await withProducer { _, producer in
            let error = await #expect(throws: KafkaError.self) { try await producer.initTransactions(within: patience) }
            #expect(error != nil)
            #expect(error?.isRetriable == false)
        }
    }

    @Test func `records outside a transaction are refused`() async throws {
        try await withProducer(["transactional.id": "x"]) { _, producer in
            try await producer.initTransactions(within: patience)
            #expect(await producer.deliver(numbered(1)).map { $0?.code } == [.invalidState])
        }
    }

    @Test func `a producer gives up registering within its limit while the broker is down, and may retry`() async throws
    {
        try await withBroker { broker in
            let properties: ClientProperties = ["transactional.id": "x", "reconnect.backoff.max.ms": "100"]
            let producer = try KafkaProducer(producerProperties(broker).merging(properties), logger: silent)
            try await broker.inject(.brokerDown(1))
            let error = await #expect(throws: KafkaError.self) {
                try await producer.initTransactions(within: .milliseconds(300))
            }
            #expect(error?.code == .timedOut)
            #expect(error?.isRetriable == true)
            try await broker.inject(.brokerUp(1))
            try await producer.initTransactions(within: patience)
            #expect(await producer.close(within: patience))
        }
    }
}
