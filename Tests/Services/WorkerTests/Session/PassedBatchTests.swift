import AdapterKit
import AsyncTestSupport
import Kafka
import Logging
import Pipeline
import Testing
import WorkerTestSupport

@testable import Worker
@testable import WorkerConfiguration

/// A worker in front of a record batch that it cannot unpack.
@Suite(.timeLimit(.minutes(5))) struct PassedBatchTests {
    /// Produces a batch of one record that zstd packs to some hundred bytes, to both partitions of the live topic.
    private func produceBatches(_ broker: EmbeddedBroker, _ configuration: Configuration) async throws {
        let producer = try KafkaProducer(
            [
                "bootstrap.servers": broker.bootstrapServers, "compression.codec": "zstd",
                "message.max.bytes": "4000000", "batch.num.messages": "1",
            ], logger: silent)
        let blanks = [UInt8](repeating: 32, count: 1_200_000)
        let errors = await producer.deliver(
            // These keys are of both partitions, whatever the partitioner.
            (0..<8).map {
                ProducerRecord(topic: configuration.topics.invalidations, key: Array("key-\($0)".utf8), value: blanks)
            })
        await producer.close(within: patience)
        #expect(errors.allSatisfy { $0 == nil })
    }

    @Test
    func `a worker passes batches that cannot be unpacked, with dead letters, and answers the events behind them`()
        async throws
    {
        try await RunningWorker.with(kafka: ["receive.message.max.bytes: 1050000"]) { broker, configuration in
            try await produceBatches(broker, configuration)
        } _: { worker in
            let line = await worker.log.line(event: "batch.unreadable")
            #expect(line.level == .error)
            #expect(line.metadata["kafka.partitions"]?.hasPrefix("remint.invalidations/") == true)
            #expect(line.metadata["kafka.offset"] == "0")
            try await worker.produce(0..<3)
            try await eventually("the letters of eight batches, and three events' ends") {
                worker.ends.events.count == 11
            }
            let letters = worker.ends.all.filter { $0.outcome == .deadLettered(.unreadableBatch) }
            #expect(Set(letters.map(\.origin)).count == 8)
            #expect(letters.allSatisfy { $0.output?.value == nil })
            try await eventually("readiness without the batches") { worker.status.problems[.topics] == nil }
            #expect(worker.status.degradations.reasons()[.records]?.contains("was passed") == true)
            let metrics = try await worker.admin.ask("/metrics").body
            let counts = metrics.matches(
                of: /\nremint_unreadable_batches_total\{topic="remint\.invalidations",[^}]*\} (\d)/)
            #expect(counts.compactMap { Int($0.1) }.reduce(0, +) == 8)
        }
    }
}
