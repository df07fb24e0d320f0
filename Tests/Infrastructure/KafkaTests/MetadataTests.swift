import AsyncTestSupport
import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct MetadataTests {
    @Test func `the metadata of a topic has its number of partitions`() async throws {
        try await withProducer(topics: ["t": 3]) { broker, producer in
            let found = try await producer.metadata(of: "t", within: patience)
            #expect(found.name == "t")
            #expect(found.partitionCount == 3)
            #expect(found.error == nil)
            try await withConsumer(of: broker) { consumer in
                let consumed = try await consumer.metadata(of: "t", within: patience)
                #expect(consumed == found)
            }
        }
    }

    /// The embedded broker knows every topic that is asked for, so its absence is injected.
    @Test func `the metadata of a missing topic has the error`() async throws {
        try await withProducer { broker, producer in
            try await broker.inject(.topic("missing", .unknownTopicOrPartition))
            let found = try await producer.metadata(of: "missing", within: patience)
            #expect(found.name == "missing")
            #expect(found.error?.code == .unknownTopicOrPartition)
        }
    }

    @Test func `the metadata of a forbidden topic has the error`() async throws {
        try await withProducer { broker, producer in
            try await broker.inject(.topic("t", .topicAuthorizationFailed))
            #expect(try await producer.metadata(of: "t", within: patience).error?.code == .topicAuthorizationFailed)
        }
    }

    @Test func `the list of topics has each topic's error`() async throws {
        try await withProducer(topics: ["t": 3, "u": 1]) { broker, producer in
            try await broker.inject(.topic("u", .topicAuthorizationFailed))
            let found = try await producer.topics(within: patience).sorted { $0.name < $1.name }
            #expect(found.map(\.name) == ["t", "u"])
            #expect(found.first?.partitionCount == 3)
            #expect(found.map { $0.error?.code } == [nil, .topicAuthorizationFailed])
            #expect(try await producer.topicNames(within: patience) == ["t"])
        }
    }

    @Test func `the last error of a producer without a broker names the refused connection`() async throws {
        let producer = try KafkaProducer(["bootstrap.servers": "127.0.0.1:1"], logger: silent)
        await #expect(throws: KafkaError.self) { try await producer.topics(within: .seconds(5)) }
        // The error arrives on another thread than the answer.
        try await eventually("the refused connection") { producer.lastError?.message.contains("refused") == true }
        #expect(producer.lastError?.code == .transport)
        #expect(await producer.close(within: patience))
    }

    @Test(arguments: [Duration.milliseconds(200), .zero, .milliseconds(-1)])
    func `a metadata query without a broker ends within its limit`(limit: Duration) async throws {
        let producer = try KafkaProducer(["bootstrap.servers": "127.0.0.1:1"], logger: silent)
        let elapsed = await ContinuousClock().measure {
            let error = await #expect(throws: KafkaError.self) { try await producer.metadata(of: "t", within: limit) }
            #expect(error.map { [.transport, .timedOut, .allBrokersDown].contains($0.code) } == true)
        }
        #expect(elapsed < patience)
        #expect(await producer.close(within: patience))
    }

    @Test func `the embedded broker creates no topic twice`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let taken = await #expect(throws: KafkaError.self) { try await broker.createTopic("t", partitions: 1) }
            #expect(taken != nil)
        }
    }

    @Test func `the embedded broker refuses an unknown broker, and everything once it is closed`() async throws {
        let broker = try EmbeddedBroker(brokers: 3, logger: silent)
        #expect(broker.bootstrapServers.split(separator: ",").count == 3)
        await #expect(throws: KafkaError.self) { try await broker.inject(.brokerDown(9)) }
        await broker.close()
        await broker.close()
        let error = await #expect(throws: KafkaError.self) { try await broker.createTopic("t", partitions: 1) }
        #expect(error?.code == .closed)
    }
}
