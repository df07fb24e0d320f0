import AsyncTestSupport
import Kafka
import Logging
import Pipeline
import Testing
import WorkerTestSupport

@testable import Worker
@testable import WorkerConfiguration

/// A worker whose group's offsets do not fit its topics' logs.
@Suite(.timeLimit(.minutes(10))) struct StartingOffsetTests {
    /// Produces events before the worker starts, and commits these offsets for them.
    private func prepare(
        _ broker: EmbeddedBroker, _ configuration: Configuration, events: Int, committing offset: Int64?
    ) async throws {
        let topic = configuration.topics.invalidations
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
        let records = (0..<events).map { number in
            ProducerRecord(
                topic: topic, key: nil,
                value: Array(#"{"provider":"jsonWebToken","nonce":"old-\#(number)","userId":"user-\#(number)"}"#.utf8),
                headers: [RecordHeader("remint-app", Array("push".utf8))])
        }
        let errors = await producer.deliver(records)
        await producer.close(within: patience)
        #expect(errors.allSatisfy { $0 == nil })
        guard let offset else { return }
        let consumer = try KafkaConsumer(
            ["bootstrap.servers": broker.bootstrapServers, "group.id": configuration.kafka.group], reading: [],
            logger: silent)
        try await consumer.commit(
            (0..<2).map { PartitionOffset(TopicPartition(topic: topic, partition: $0), offset: offset) })
        await consumer.close(within: patience)
    }

    @Test func `a group whose offsets lie beyond the logs' ends goes on there and says so`() async throws {
        try await RunningWorker.with { broker, configuration in
            try await prepare(broker, configuration, events: 20, committing: 1_000)
        } _: { worker in
            let message =
                "the log ends before the committed offset; the worker goes on at its end, and answers none of the retained records again"
            let line = await worker.log.line(message)
            #expect(line.level == .error)
            #expect(line.metadata["remint.detail"]?.contains("kafka-consumer-groups.sh --group remint --topic") == true)
            await worker.assigned()
            try await worker.produce(0..<3)
            try await eventually("the new events' ends") { worker.ends.events.count == 3 }
            #expect(worker.ends.count == 3, "a retained record was answered again")
            let metrics = try await worker.admin.ask("/metrics").body
            #expect(
                metrics.contains(
                    #"remint_log_regressions_total{topic="remint.invalidations",partition="0",reason="truncated"} 1"#))
            // The decision is the group's: a log that grows is not passed over by the next session.
            let consumer = try KafkaConsumer(
                ["bootstrap.servers": worker.broker.bootstrapServers, "group.id": "remint"], reading: [], logger: silent
            )
            let partitions = (0..<2).map { TopicPartition(topic: "remint.invalidations", partition: $0) }
            let committed = try await consumer.committed(partitions, within: patience)
            await consumer.close(within: patience)
            #expect(committed.values.allSatisfy { $0 < 1_000 } && committed.count == 2, "\(committed)")
        }
    }

    @Test func `a group without offsets answers everything that is retained`() async throws {
        try await RunningWorker.with { broker, configuration in
            try await prepare(broker, configuration, events: 20, committing: nil)
        } _: { worker in
            try await eventually("every end") { worker.ends.events.count == 20 }
            let metrics = try await worker.admin.ask("/metrics").body
            #expect(
                !metrics.contains("remint_log_regressions_total{") && !metrics.contains("remint_lost_records_total{"))
        }
    }
}
