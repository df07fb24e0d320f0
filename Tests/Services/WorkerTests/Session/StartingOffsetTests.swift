import AdapterKit
import AsyncTestSupport
import Kafka
import Logging
import Pipeline
import Testing
import WorkerTestSupport

@testable import Wiring
@testable import Worker
@testable import WorkerConfiguration

/// A worker whose group's offsets do not fit its topics' logs.
@Suite(.timeLimit(.minutes(5))) struct StartingOffsetTests {
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

    @Test func `a group whose offsets are beyond the logs' ends goes on there and reports it`() async throws {
        try await RunningWorker.with { broker, configuration in
            try await prepare(broker, configuration, events: 20, committing: 1_000)
        } _: { worker in
            let line = await worker.log.line(event: "partition.truncated")
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
            #expect(!counts("remint_log_regressions_total", in: metrics))
            #expect(!counts("remint_lost_records_total", in: metrics))
        }
    }

    /// Whether a series of the counter is above 0.
    private func counts(_ name: String, in metrics: String) -> Bool {
        metrics.split(separator: "\n").contains { $0.hasPrefix("\(name){") && !$0.hasSuffix(" 0") }
    }

    // MARK: Told once

    private static let pause = LanePause(lane: .live, since: UnixTime(seconds: 1_763_640_000), by: "ops", why: "moving")

    /// Pauses the live lane, so that nothing is committed but what a start decides.
    private func pauseLive(_ broker: EmbeddedBroker, _ configuration: Configuration) async throws {
        try await broker.createTopic(configuration.topics.control, partitions: 1)
        try await RunningWorker.control(
            broker, configuration, [.lane(LaneRecord(group: "remint", lane: .live, pause: Self.pause))])
    }

    @Test func `records that were deleted before they were read are reported at one start, and not at the next`()
        async throws
    {
        let event = "records.lost"
        try await RunningWorker.with { broker, configuration in
            try await pauseLive(broker, configuration)
            // The broker keeps 5 MiB of a partition.
            let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
            for partition in 0..<2 {
                let errors = await producer.deliver(
                    (0..<12).map { _ in
                        ProducerRecord(
                            topic: configuration.topics.invalidations, key: nil,
                            value: [UInt8](repeating: UInt8(partition), count: 900_000))
                    })
                #expect(errors.allSatisfy { $0 == nil })
            }
            await producer.close(within: patience)
            let consumer = try KafkaConsumer(
                ["bootstrap.servers": broker.bootstrapServers, "group.id": configuration.kafka.group], reading: [],
                logger: silent)
            try await consumer.commit(Self.live.map { PartitionOffset($0, offset: 0) })
            await consumer.close(within: patience)
        } _: { worker in
            let line = await worker.log.line(event: event)
            #expect(line.level == .error)
            try await worker.replaced { next in
                await next.assigned()
                try await eventually("the next worker's look at its metrics") {
                    try await next.admin.ask("/metrics").body.contains("remint_lane_paused")
                }
                #expect(!next.log.lines.contains { $0.event == event })
                let metrics = try await next.admin.ask("/metrics").body
                #expect(!counts("remint_lost_records_total", in: metrics))
            }
        }
    }

    @Test func `a topic that was created again is reported at one start, and not at the next`() async throws {
        let event = "partition.recreated"
        try await RunningWorker.with { broker, configuration in
            try await pauseLive(broker, configuration)
            try await prepare(broker, configuration, events: 20, committing: nil)
            let old = CommitMetadata(
                version: nil, mark: LogMark(offset: 0, timestamp: 1_000), committedAt: UnixTime(seconds: 2_000))
            let consumer = try KafkaConsumer(
                ["bootstrap.servers": broker.bootstrapServers, "group.id": configuration.kafka.group], reading: [],
                logger: silent)
            try await consumer.commit(Self.live.map { PartitionOffset($0, offset: 1, metadata: old.text) })
            await consumer.close(within: patience)
        } _: { worker in
            _ = await worker.log.line(event: event)
            try await worker.replaced { next in
                await next.assigned()
                // Nothing of the new log was passed over by the first one's decision.
                try await RunningWorker.control(
                    next.broker, next.configuration, [.lane(LaneRecord(group: "remint", lane: .live, pause: nil))])
                try await eventually("every end") { next.ends.events.count == 20 }
                #expect(!next.log.lines.contains { $0.event == event })
                let metrics = try await next.admin.ask("/metrics").body
                #expect(!counts("remint_log_regressions_total", in: metrics))
            }
        }
    }

    private static let live = (0..<2).map { TopicPartition(topic: "remint.invalidations", partition: $0) }
}
