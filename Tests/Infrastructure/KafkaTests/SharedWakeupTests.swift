import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct SharedWakeupTests {
    @Test func `one task serves several consumers, woken by each`() async throws {
        let topics = ["a", "b", "c"]
        try await withProducer(topics: ["a": 1, "b": 1, "c": 1]) { broker, producer in
            let wakeup = Wakeup()
            let consumers = try topics.map { topic in
                try KafkaConsumer(
                    consumerProperties(broker, group: topic), topics: [topic], wakeup: wakeup, logger: silent)
            }
            /// Returns the records of all consumers, and waits for the first one.
            func events() async throws -> [ConsumedRecord] {
                while true {
                    try Task.checkCancellation()
                    var records: [ConsumedRecord] = []
                    var isIdle = true
                    for consumer in consumers {
                        for event in await consumer.events(limit: 10, within: .zero) {
                            isIdle = false
                            if case .record(let record) = event { records.append(record) }
                            if case .rebalance(let rebalance) = event { try await consumer.answer(rebalance) }
                        }
                    }
                    if !isIdle { return records }
                    // For ever: a signal that is lost ends the test's time.
                    await wakeup.wait(atMost: .seconds(3600))
                }
            }
            for round in 0..<30 {
                let topic = topics[round % 3]
                let record = ProducerRecord(topic: topic, key: nil, value: text("\(round)"))
                #expect(await producer.deliver([record]) == [nil])
                var seen: [ConsumedRecord] = []
                while seen.isEmpty { seen = try await events() }
                #expect(seen.map(\.number) == [round])
                #expect(seen.map(\.position.topic) == [topic])
            }
            // One that closes leaves the others served.
            #expect(await consumers[0].close(within: patience))
            #expect(await producer.deliver([ProducerRecord(topic: "c", key: nil, value: text("99"))]) == [nil])
            var seen: [ConsumedRecord] = []
            while seen.isEmpty { seen = try await events() }
            #expect(seen.map(\.number) == [99])
            for consumer in consumers.dropFirst() { #expect(await consumer.close(within: patience)) }
        }
    }
}
