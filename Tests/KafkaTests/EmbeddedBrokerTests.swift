import Kafka
import Logging
import Testing

private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

@Suite(.timeLimit(.minutes(1))) struct EmbeddedBrokerTests {
    @Test func `carries records with key, value, headers and tombstones there and back`() async throws {
        let broker = try EmbeddedBroker(logger: logger)
        try await broker.createTopic("t", partitions: 1)
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: logger)
        let records = [
            ProducerRecord(topic: "t", key: [1], value: [2, 3], headers: [.init("a", [4]), .init("a", nil), .init("b", [])]),
            ProducerRecord(topic: "t", key: nil, value: nil),
            ProducerRecord(topic: "t", key: [], value: []),
        ]
        #expect(await producer.deliver(records) == [nil, nil, nil])

        let consumer = try KafkaConsumer(consumerProperties(broker, group: "g"), topics: ["t"], logger: logger)
        let consumed = try await consume(3, from: consumer)
        #expect(consumed.map(\.key) == [[1], nil, []])
        #expect(consumed.map(\.value) == [[2, 3], nil, []])
        #expect(consumed[0].headers == records[0].headers)
        #expect(consumed.map(\.position.offset) == [0, 1, 2])
        #expect(await consumer.close(within: .seconds(20)))
        #expect(await producer.close(within: .seconds(20)))
        await broker.close()
    }
}

func consumerProperties(_ broker: EmbeddedBroker, group: String) -> ClientProperties {
    EmbeddedBroker.clientProperties.merging([
        "bootstrap.servers": broker.bootstrapServers, "group.id": group, "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
    ])
}

/// Consumes `count` records, answering rebalances on the way.
func consume(_ count: Int, from consumer: KafkaConsumer) async throws -> [ConsumedRecord] {
    var records: [ConsumedRecord] = []
    while records.count < count {
        for event in await consumer.events(limit: count - records.count, within: .seconds(1)) {
            switch event {
            case .record(let record): records.append(record)
            case .rebalance(let rebalance): try await consumer.answer(rebalance)
            case .error(let error): throw error
            }
        }
    }
    return records
}
