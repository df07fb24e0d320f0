import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConsumerEventTests {
    @Test func `a consumer waits its full time if nothing happens`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                let elapsed = await ContinuousClock().measure {
                    let events = await consumer.events(limit: 10, within: .milliseconds(300))
                    #expect(events.isEmpty)
                }
                #expect(elapsed >= .milliseconds(290))
                #expect(await consumer.events(limit: 10, within: .zero).isEmpty)
            }
        }
    }

    @Test func `a waiting consumer wakes up for a record`() async throws {
        try await withProducer { broker, producer in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                for number in 0..<20 {
                    async let events = consumer.events(limit: 1, within: .seconds(50))
                    #expect(
                        await producer.deliver([ProducerRecord(topic: "t", key: nil, value: text("\(number)"))]) == [
                            nil
                        ])
                    #expect(
                        await events.compactMap { if case .record(let record) = $0 { record.number } else { nil } } == [
                            number
                        ])
                }
            }
        }
    }

    @Test func `a consumer stops waiting when its task is canceled`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                let waiting = Task { await consumer.events(limit: 1, within: .seconds(50)) }
                waiting.cancel()
                #expect(await waiting.value.isEmpty)
            }
        }
    }

    @Test func `a consumer stops waiting when it is closed`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                async let events = consumer.events(limit: 1, within: .seconds(50))
                // Whether the wait begins before or after, it ends.
                #expect(await consumer.close(within: patience))
                #expect(await events.isEmpty)
            }
        }
    }

    @Test func `a consumer returns no more than the limit, and loses nothing`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(50)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                var numbers: [Int] = []
                while numbers.count < 50 {
                    let events = await consumer.events(limit: 7, within: .seconds(1))
                    #expect(events.count <= 7)
                    numbers += events.compactMap { if case .record(let record) = $0 { record.number } else { nil } }
                }
                #expect(numbers == Array(0..<50))
            }
        }
    }

    @Test func `a consumer reports that no broker can be reached`() async throws {
        let properties: ClientProperties = ["bootstrap.servers": "127.0.0.1:1", "group.id": "g"]
        let consumer = try KafkaConsumer(properties, topics: ["t"], logger: silent)
        let code = try await error(of: consumer).code
        #expect([.transport, .allBrokersDown].contains(code))
        #expect(await consumer.close(within: patience))
    }

    @Test func `a consumer seeks back and forth, with no stale record in between`() async throws {
        try await withProducer { broker, producer in
            #expect(await producer.deliver(numbered(100)).allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                let partition = TopicPartition(topic: "t", partition: 0)
                #expect(try await consume(10, from: consumer).compactMap(\.number) == Array(0..<10))
                for offset in [5, 90, 0, 42] {
                    try await consumer.seek(to: [PartitionOffset(partition, offset: Int64(offset))])
                    #expect(try await consume(10, from: consumer).compactMap(\.number) == Array(offset..<offset + 10))
                }
            }
        }
    }

    @Test func `a consumer refuses to seek a partition that is not its own`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            try await withConsumer(of: broker) { consumer in
                try await join(consumer)
                try await consumer.seek(to: [])
                let error = await #expect(throws: KafkaError.self) {
                    try await consumer.seek(to: [PartitionOffset(TopicPartition(topic: "t", partition: 7), offset: 0)])
                }
                #expect(error?.code == .unknownPartition)
            }
        }
    }
}
