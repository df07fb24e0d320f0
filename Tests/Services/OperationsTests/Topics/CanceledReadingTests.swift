import Kafka
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Operations

/// Readings of topics whose task is canceled, as those of a worker that stops.
@Suite(.timeLimit(.minutes(5))) struct CanceledReadingTests {
    @Test func `a reading ends once its task is canceled`() async throws {
        let broker = try EmbeddedBroker(logger: silent)
        try await broker.createTopic("tokens", partitions: 1)
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
        let errors = await producer.deliver([ProducerRecord(topic: "tokens", key: nil, value: [1])])
        #expect(errors.allSatisfy { $0 == nil })
        await producer.close(within: patience)
        let configuration = try readConfiguration(
            """
            kafka: { bootstrap_servers: "\(broker.bootstrapServers)" }
            keys: { ring: { path: ring } }
            apps: { a: { adapter: braze, key: ring, lifetime: 12h } }
            """)
        let reader = try await TopicReader("tokens", configuration, brokers: broker.bootstrapServers, logger: silent)
        let reading = Task {
            while !Task.isCancelled { await Task.yield() }
            try await reader.readAll { _, _, _ in }
        }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await broker.close()
    }
}
