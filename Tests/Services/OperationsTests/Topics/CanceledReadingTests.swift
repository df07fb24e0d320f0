import AdapterKit
import Kafka
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Operations

/// Readings of topics whose task is canceled, as those of a worker that stops.
@Suite(.timeLimit(.minutes(5))) struct CanceledReadingTests {
    private static func configuration(_ broker: EmbeddedBroker) throws -> Configuration {
        try readConfiguration(
            """
            kafka: { bootstrap_servers: "\(broker.bootstrapServers)" }
            keys: { ring: { path: ring } }
            apps: { a: { adapter: braze, key: ring, lifetime: 12h } }
            """)
    }

    /// Runs `body` in a task that is canceled before it begins.
    private static func canceled(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
        let gate = AsyncStream<Void>.makeStream()
        let task = Task {
            // Nobody writes to the stream: it ends with the cancellation.
            for await _ in gate.stream {}
            try await body()
        }
        task.cancel()
        return task
    }

    @Test func `a reading of a topic ends once its task is canceled`() async throws {
        let broker = try EmbeddedBroker(logger: silent)
        try await broker.createTopic("tokens", partitions: 1)
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
        let errors = await producer.deliver([ProducerRecord(topic: "tokens", key: nil, value: [1])])
        #expect(errors.allSatisfy { $0 == nil })
        await producer.close(within: patience)
        let reader = try await TopicReader(
            "tokens", Self.configuration(broker), brokers: broker.bootstrapServers, logger: silent)
        let reading = Self.canceled { try await reader.readAll { _, _, _ in } }
        await #expect(throws: CancellationError.self) { try await reading.value }
        await broker.close()
    }

    @Test func `the fleet is not read for a canceled task`() async throws {
        let broker = try EmbeddedBroker(logger: silent)
        let reader = try FleetReader(
            Self.configuration(broker), brokers: broker.bootstrapServers, logger: silent,
            now: { UnixTime(seconds: 1_800_000_000) })
        let reading = Self.canceled { _ = try await reader.read() }
        let error = await #expect(throws: KafkaError.self) { try await reading.value }
        #expect(error?.code == .closed)
        await reader.close()
        await broker.close()
    }
}
