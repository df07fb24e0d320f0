import AdapterKit
import AsyncTestSupport
import Kafka
import Logging
import Pipeline
import Testing
import WorkerTestSupport

@testable import Worker
@testable import WorkerConfiguration

/// A worker that knows the operators' pauses before it answers anything, or waits.
@Suite(.timeLimit(.minutes(5))) struct ControlTopicTests {
    private static let waiting = "control-topic.unread"

    @Test(arguments: [EmbeddedBroker.ResponseError.topicAuthorizationFailed, .notLeader])
    func `a control topic that cannot be read is waited for, and nothing is consumed meanwhile`(
        _ error: EmbeddedBroker.ResponseError
    ) async throws {
        try await RunningWorker.with { broker, configuration in
            try await broker.createTopic(configuration.topics.control, partitions: 1)
            try await broker.inject(.topic(configuration.topics.control, error))
        } _: { worker in
            let line = await worker.log.line(event: Self.waiting)
            #expect(line.level == .error && line.metadata["kafka.topic"] == "remint.control")
            #expect(worker.status.problems[.topics]?.contains("remint.control") == true)
            #expect(try await worker.admin.ask("/health/ready").status == 503)
            try await worker.produce(0..<3)
            #expect(worker.ends.count == 0)
            #expect(!worker.log.lines.contains { $0.event == "worker.consuming" })
            try await worker.broker.inject(.topic(worker.configuration.topics.control, nil))
            try await eventually("every end") { worker.ends.events.count == 3 }
            #expect(worker.status.problems[.topics] == nil)
            #expect(worker.log.lines.count { $0.event == Self.waiting } == 1)
        }
    }

    @Test func `a paused lane stays paused at a start whose brokers are slow`() async throws {
        let pause = LanePause(lane: .live, since: UnixTime(seconds: 1_763_640_000), by: "ops", why: "the night")
        let record = LaneRecord(group: "remint", lane: .live, pause: pause)
        try await RunningWorker.with { broker, configuration in
            try await broker.createTopic(configuration.topics.control, partitions: 1)
            try await RunningWorker.control(broker, configuration, [.lane(record)])
            // Each fetch of the topic fails for a while; the brokers answer all else.
            try await broker.inject(.topic(configuration.topics.control, .notLeader))
        } _: { worker in
            await worker.log.line(event: Self.waiting)
            try await worker.produce(0..<3)
            try await worker.broker.inject(.topic(worker.configuration.topics.control, nil))
            await worker.log.line(event: "lane.paused")
            await worker.log.line(event: "worker.consuming")
            #expect(worker.status.lanePauses.map(\.why) == ["the night"])
            #expect(worker.ends.count == 0)
        }
    }

    @Test func `a start logs the pause that the topic's history ends with, and no other`() async throws {
        let pauses = ["once", nil, "again"].map { why in
            why.map { LanePause(lane: .bulk, since: UnixTime(seconds: 1_763_640_000), by: "ops", why: $0) }
        }
        try await RunningWorker.with { broker, configuration in
            try await broker.createTopic(configuration.topics.control, partitions: 1)
            try await RunningWorker.control(
                broker, configuration, pauses.map { .lane(LaneRecord(group: "remint", lane: .bulk, pause: $0)) })
        } _: { worker in
            await worker.log.line(event: "worker.consuming")
            await worker.assigned()
            let told = worker.log.lines.filter { $0.event == "lane.paused" || $0.event == "lane.resumed" }
            #expect(told.map { $0.metadata["remint.detail"] } == ["again"])
            // What is said from now on is news.
            let app = Suspension(app: "push", cause: .paused, since: UnixTime(seconds: 1_763_640_000))
            try await RunningWorker.control(
                worker.broker, worker.configuration,
                [.app(ControlRecord(group: "remint", app: "push", suspension: app))])
            _ = await worker.log.line(event: "app.paused")
        }
    }

    @Test func `a worker whose cluster has no control topic goes on and reports it`() async throws {
        try await RunningWorker.with { broker, configuration in
            try await broker.createTopic(configuration.topics.control, partitions: 1)
            try await broker.inject(.topic(configuration.topics.control, .unknownTopicOrPartition))
        } _: { worker in
            await worker.log.line(event: "control-topic.missing")
            try await worker.produce(0..<3)
            try await eventually("every end") { worker.ends.events.count == 3 }
        }
    }

    @Test func `a worker that waits for its control topic stops when asked to`() async throws {
        try await RunningWorker.with { broker, configuration in
            try await broker.createTopic(configuration.topics.control, partitions: 1)
            try await broker.inject(.topic(configuration.topics.control, .topicAuthorizationFailed))
        } _: { worker in
            await worker.log.line(event: Self.waiting)
            try await worker.stop()
        }
    }
}
