import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct TopicPreparationTests {
    @Test func `the first record to a known topic waits for nothing`() async throws {
        try await withProducer(topics: ["a": 2, "b": 2], ["transactional.id": "x"]) { _, producer in
            producer.prepare(["a", "b"])
            try await producer.initTransactions(within: patience)
            let elapsed = try await ContinuousClock().measure {
                try await producer.beginTransaction()
                let records = ["a", "b"].map { ProducerRecord(topic: $0, key: nil, value: text("1")) }
                #expect(await producer.deliver(records) == [nil, nil])
                try await producer.commitTransaction()
            }
            // A topic that was not known costs a whole second.
            #expect(elapsed < .milliseconds(900))
        }
    }

    @Test func `topics that do not exist, twice the same and none at all are no trouble`() async throws {
        try await withProducer { _, producer in
            producer.prepare(["t", "t", "not there", ""])
            producer.prepare([])
            #expect(await producer.deliver(numbered(3)).allSatisfy { $0 == nil })
        }
    }

    @Test func `a closed producer prepares nothing`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let producer = try KafkaProducer(producerProperties(broker), logger: silent)
            #expect(await producer.close(within: patience))
            producer.prepare(["t"])
        }
    }
}
