import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct TopicPreparationTests {
    /// A topic that was not known costs a whole second; of several, one is quick also on a busy machine.
    @Test func `the first record to a known topic waits for nothing`() async throws {
        let topics = (0..<8).map { "t\($0)" }
        let counts = Dictionary(uniqueKeysWithValues: topics.map { ($0, 2) })
        try await withProducer(topics: counts, ["transactional.id": "x"]) { _, producer in
            producer.prepare(topics)
            try await producer.initTransactions(within: patience)
            var quickest = Duration.seconds(3600)
            for topic in topics {
                let elapsed = try await ContinuousClock().measure {
                    try await producer.beginTransaction()
                    #expect(await producer.deliver([ProducerRecord(topic: topic, key: nil, value: text("1"))]) == [nil])
                    try await producer.commitTransaction()
                }
                quickest = min(quickest, elapsed)
            }
            #expect(quickest < .milliseconds(500))
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
