import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProduceAndConsumeTests {
    @Test func `missing, empty and filled keys, values and headers arrive unchanged`() async throws {
        let fillings: [[UInt8]?] = [nil, [], [0], text("überall")]
        let headers: [[RecordHeader]] = [
            [], [.init("a", nil)], [.init("a", [])],
            [.init("a", [4]), .init("a", nil), .init("b", []), .init("a", [4])],
            [.init("", [1])], [.init("Größe-寸法-📏", text("日本"))],
        ]
        let records = fillings.flatMap { key in
            fillings.flatMap { value in
                headers.map { ProducerRecord(topic: "t", key: key, value: value, headers: $0) }
            }
        }
        try await withProducer { broker, producer in
            #expect(await producer.deliver(records) == Array(repeating: nil, count: records.count))
            try await withConsumer(of: broker) { consumer in
                let consumed = try await consume(records.count, from: consumer)
                #expect(consumed.map(\.key) == records.map(\.key))
                #expect(consumed.map(\.value) == records.map(\.value))
                #expect(consumed.map(\.headers) == records.map(\.headers))
                #expect(consumed.map(\.position.offset) == Array(0..<Int64(records.count)))
                #expect(consumed.allSatisfy { $0.position.topic == "t" && $0.position.partition == 0 })
                #expect(consumed.allSatisfy { ($0.timestamp ?? 0) > 1_600_000_000_000 })
            }
        }
    }

    @Test func `the delivery of no records ends at once`() async throws {
        try await withProducer { _, producer in #expect(await producer.deliver([]).isEmpty) }
    }

    @Test func `a producer notes no time of the embedded broker, which answers a constant`() async throws {
        try await withProducer { _, producer in
            #expect(await producer.deliver(numbered(3)) == [nil, nil, nil])
            #expect(producer.takeAppendTime() == nil)
        }
    }

    @Test func `a record of two megabytes is carried where the properties allow it`() async throws {
        let large = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withProducer(["message.max.bytes": "3000000"]) { broker, producer in
            #expect(await producer.deliver([ProducerRecord(topic: "t", key: nil, value: large)]) == [nil])
            // The consumer's defaults take it: the broker sends a first record whatever its size.
            try await withConsumer(of: broker) { consumer in
                let consumed = try await consume(1, from: consumer)
                #expect(consumed.map(\.value) == [large])
            }
        }
    }

    @Test func `a record larger than the producer's limit is refused, and the others are delivered`() async throws {
        try await withProducer { _, producer in
            let large = ProducerRecord(topic: "t", key: nil, value: Array(repeating: 0, count: 1_100_000))
            let small = ProducerRecord(topic: "t", key: nil, value: [1])
            let outcome = await producer.deliver([small, large, small])
            #expect(outcome.map { $0?.code } == [nil, .messageTooLarge, nil])
        }
    }

    @Test func `the order of ten thousand records is kept in each of four partitions`() async throws {
        let count = 10_000
        try await withProducer(topics: ["t": 4], ["linger.ms": "5"]) { broker, producer in
            let outcome = await producer.deliver(numbered(count))
            #expect(outcome.count == count)
            #expect(outcome.allSatisfy { $0 == nil })
            try await withConsumer(of: broker) { consumer in
                let consumed = try await consume(count, from: consumer)
                let partitions = Dictionary(grouping: consumed, by: \.position.partition)
                #expect(partitions.keys.sorted() == [0, 1, 2, 3])
                for records in partitions.values {
                    #expect(records.map(\.position.offset) == Array(0..<Int64(records.count)))
                    let numbers = records.compactMap(\.number)
                    #expect(numbers == numbers.sorted())
                }
                #expect(consumed.compactMap(\.number).sorted() == Array(0..<count))
            }
        }
    }

    @Test func `each of many concurrent calls gets its own outcome`() async throws {
        try await withProducer(topics: ["t": 4]) { _, producer in
            let counts = await withTaskGroup(of: (Int, Int).self) { group in
                for size in 1...100 {
                    group.addTask { (size, await producer.deliver(numbered(size)).filter { $0 == nil }.count) }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(counts == Dictionary(uniqueKeysWithValues: (1...100).map { ($0, $0) }))
        }
    }

    @Test func `the two topics of one consumer are kept apart`() async throws {
        try await withProducer(topics: ["a": 1, "b": 1]) { broker, producer in
            let records = (0..<100).map {
                ProducerRecord(topic: $0.isMultiple(of: 2) ? "a" : "b", key: nil, value: text("\($0)"))
            }
            #expect(await producer.deliver(records).allSatisfy { $0 == nil })
            try await withConsumer(of: broker, topics: ["a", "b"]) { consumer in
                for record in try await consume(100, from: consumer) {
                    #expect(record.position.topic == (record.number?.isMultiple(of: 2) == true ? "a" : "b"))
                }
            }
        }
    }

    /// A C callback that inherited the isolation of where it was written would stop the process here.
    @MainActor @Test func `producer and consumer work from the main actor`() async throws {
        let broker = try EmbeddedBroker(logger: silent)
        try await broker.createTopic("t", partitions: 1)
        let producer = try KafkaProducer(producerProperties(broker), logger: silent)
        #expect(await producer.deliver(numbered(3)) == [nil, nil, nil])
        let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: silent)
        #expect(try await consume(3, from: consumer).compactMap(\.number) == [0, 1, 2])
        #expect(await consumer.close(within: patience))
        #expect(await producer.close(within: patience))
        await broker.close()
    }
}
