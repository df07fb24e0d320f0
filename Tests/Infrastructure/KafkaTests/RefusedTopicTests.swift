import Testing

@testable import Kafka

@Suite("Topics that no transaction may write")
struct RefusedTopicTests {
    @Test(
        arguments: [
            (
                #"[thrd:127.0.0.1:9092/1]: 127.0.0.1:9092/1: Failed to add partition "remint.tokens" [0] to transaction: Broker: Topic authorization failed"#,
                "remint.tokens"
            ),
            (
                #"[thrd:main]: Failed to add partition "remint.dead-letters" [1] to transaction: Broker: Operation not attempted"#,
                nil
            ),
            (#"Failed to add partition "remint.tokens" [0] to transaction: Broker: Not leader for partition"#, nil),
            (#"Failed to add partitions to transaction: Broker: Topic authorization failed"#, nil),
        ] as [(String, String?)])
    func `the topic that the coordinator refused is read from the library's log, and those beside it are not`(
        _ line: String, _ topic: String?
    ) {
        #expect(LibraryLog.refusedTopic(in: line) == topic)
    }

    /// The errors of the calls and of the records do not name it.
    @Test func `a producer names the topic that its transaction may not write`() async throws {
        try await withBroker { broker in
            try await broker.createTopic("t", partitions: 1)
            let producer = try KafkaProducer(
                ["bootstrap.servers": broker.bootstrapServers, "transactional.id": "x"], logger: silent)
            try await producer.initTransactions(within: .seconds(30))
            try await broker.inject(.errors(.addPartitionsToTransaction, [.topicAuthorizationFailed]))
            try await producer.beginTransaction()
            _ = await producer.deliver([ProducerRecord(topic: "t", key: nil, value: [1])])
            #expect(producer.takeRefusals() == ["t"])
            #expect(producer.takeRefusals().isEmpty)
            await producer.close(within: .zero)
        }
    }
}
