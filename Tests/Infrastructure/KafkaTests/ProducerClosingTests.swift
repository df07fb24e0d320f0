import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProducerClosingTests {
    @Test func `a producer delivers the records under way before it closes`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let producer = try KafkaProducer(producerProperties(broker).merging(["linger.ms": "200"]), logger: silent)
            async let outcome = producer.deliver(numbered(100))
            #expect(await outcome.allSatisfy { $0 == nil })
            #expect(await producer.close(within: patience))
        }
    }

    @Test(arguments: [nil, "5"])
    func `a producer closes within its limit while the broker is down, and settles every record`(queueSize: String?)
        async throws
    {
        try await withBroker(topics: ["t": 1]) { broker in
            var properties = producerProperties(broker)
            properties["queue.buffering.max.messages"] = queueSize
            properties["message.timeout.ms"] = "3600000"
            let producer = try KafkaProducer(properties, logger: silent)
            #expect(await producer.deliver(numbered(1)) == [nil])
            try await broker.inject(.brokerDown(1))
            // Whether the records are handed over before the closing or after it, each is settled.
            let outcome = await withTaskGroup(of: [KafkaError?].self) { group in
                let handedOver = AsyncStream<Void>.makeStream()
                group.addTask {
                    handedOver.continuation.finish()
                    return await producer.deliver(numbered(20))
                }
                for await _ in handedOver.stream {}
                await producer.close(within: .milliseconds(300))
                // In line behind the first, however long this machine takes for it.
                #expect(await producer.close(within: patience))
                return await group.next()
            }
            #expect(outcome?.count == 20)
            #expect(outcome?.allSatisfy { $0 != nil } == true)
        }
    }

    @Test func `a producer closes twice`() async throws {
        try await withBroker { broker in
            let producer = try KafkaProducer(producerProperties(broker), logger: silent)
            async let first = producer.close(within: patience)
            async let second = producer.close(within: patience)
            #expect(await (first, second) == (true, true))
            #expect(await producer.close(within: patience))
        }
    }

    @Test func `a closed producer refuses records, queries and transactions`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let producer = try KafkaProducer(producerProperties(broker), logger: silent)
            #expect(await producer.close(within: patience))
            #expect(await producer.deliver(numbered(2)).map { $0?.code } == [.closed, .closed])
            await #expect(throws: KafkaError.self) { try await producer.metadata(of: "t", within: .seconds(1)) }
            let error = await #expect(throws: KafkaError.self) { try await producer.beginTransaction() }
            #expect(error?.code == .closed)
        }
    }

    @Test func `a producer closes without a broker`() async throws {
        let producer = try KafkaProducer(["bootstrap.servers": "127.0.0.1:1"], logger: silent)
        #expect(await producer.close(within: patience))
    }

    @Test func `a producer with a negative limit closes at once`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let properties = producerProperties(broker).merging(["message.timeout.ms": "3600000"])
            let producer = try KafkaProducer(properties, logger: silent)
            try await broker.inject(.brokerDown(1))
            async let outcome = producer.deliver(numbered(1))
            // A limit that has passed already is none, not an unlimited one.
            await producer.close(within: .milliseconds(-1))
            #expect(await producer.close(within: patience))
            #expect(await outcome.count == 1)
        }
    }
}
