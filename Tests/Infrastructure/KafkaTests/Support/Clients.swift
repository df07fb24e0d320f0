import AsyncTestSupport
import Kafka
import Logging
import Testing

let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Long enough for a loaded machine; a test that needs it has failed.
let patience = Duration.seconds(240)

/// A few brokers at a time: each opens dozens of descriptors with its clients, and Foundation's `Process` (Swift
/// 6.3.1), which other tests use, crashes where a process has more than a thousand.
private let permits = Permits(8)

/// Runs a test on an embedded broker of its own.
func withBroker<Result>(
    topics: [String: Int] = [:], _ body: (EmbeddedBroker) async throws -> Result
) async throws -> Result {
    try await permits.withPermit { try await withUncountedBroker(topics, body) }
}

private func withUncountedBroker<Result>(
    _ topics: [String: Int], _ body: (EmbeddedBroker) async throws -> Result
) async throws -> Result {
    let broker = try EmbeddedBroker(logger: silent)
    do {
        for (name, partitions) in topics { try await broker.createTopic(name, partitions: partitions) }
        let result = try await body(broker)
        await broker.close()
        return result
    } catch {
        await broker.close()
        throw error
    }
}

/// Runs a test on an embedded broker and a producer.
func withProducer<Result>(
    topics: [String: Int] = ["t": 1], _ properties: ClientProperties = [:],
    _ body: (EmbeddedBroker, KafkaProducer) async throws -> Result
) async throws -> Result {
    try await withBroker(topics: topics) { broker in
        let producer = try KafkaProducer(producerProperties(broker).merging(properties), logger: silent)
        do {
            let result = try await body(broker, producer)
            #expect(await producer.close(within: patience))
            return result
        } catch {
            await producer.close(within: .zero)
            throw error
        }
    }
}

/// Runs a test on a consumer of `broker`.
func withConsumer<Result>(
    of broker: EmbeddedBroker, topics: [String] = ["t"], _ properties: ClientProperties = [:],
    _ body: (KafkaConsumer) async throws -> Result
) async throws -> Result {
    let consumer = try KafkaConsumer(
        consumerProperties(broker, group: "g").merging(properties), topics: topics, logger: silent)
    do {
        let result = try await body(consumer)
        #expect(await consumer.close(within: patience))
        return result
    } catch {
        await consumer.close(within: patience)
        throw error
    }
}

func producerProperties(_ broker: EmbeddedBroker) -> ClientProperties {
    ["bootstrap.servers": broker.bootstrapServers, "linger.ms": "0"]
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
        try Task.checkCancellation()
        for event in await consumer.events(limit: count - records.count, within: .seconds(1)) {
            switch event {
            case .record(let record): records.append(record)
            case .rebalance(let rebalance): try await consumer.answer(rebalance)
            case .endOfPartition: continue
            case .error(let error): throw error
            }
        }
    }
    return records
}

/// The next rebalance, unanswered. Records on the way are dropped.
func rebalance(of consumer: KafkaConsumer) async throws -> Rebalance {
    while true {
        try Task.checkCancellation()
        for event in await consumer.events(limit: 100, within: .seconds(1)) {
            switch event {
            case .record, .endOfPartition: continue
            case .rebalance(let rebalance): return rebalance
            case .error(let error): throw error
            }
        }
    }
}

/// The consumer's first error event.
func error(of consumer: KafkaConsumer) async throws -> KafkaError {
    while true {
        try Task.checkCancellation()
        for event in await consumer.events(limit: 100, within: .seconds(1)) {
            switch event {
            case .record, .endOfPartition: continue
            case .rebalance(let rebalance): try await consumer.answer(rebalance)
            case .error(let error): return error
            }
        }
    }
}

/// Waits until the consumer has partitions.
func join(_ consumer: KafkaConsumer) async throws {
    while await consumer.assignedPartitions.isEmpty { try await consumer.answer(rebalance(of: consumer)) }
}

func text(_ text: String) -> [UInt8] { Array(text.utf8) }

/// `count` records for one topic, numbered from 0.
func numbered(_ count: Int, topic: String = "t") -> [ProducerRecord] {
    (0..<count).map { ProducerRecord(topic: topic, key: text("\($0 % 64)"), value: text("\($0)")) }
}

extension ConsumedRecord {
    var number: Int? { value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } }
}
