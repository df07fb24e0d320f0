import AsyncTestSupport
import Kafka
import Logging
import Testing
import WorkerTestSupport

@testable import Worker
@testable import WorkerConfiguration

/// A worker whose topics cannot be written, or are not there.
@Suite(.timeLimit(.minutes(5))) struct UnwritableTopicTests {
    @Test func `a worker waits at its start for a missing topic, names it, and goes on by itself`() async throws {
        try await RunningWorker.with { broker, configuration in
            try await broker.inject(.topic(configuration.topics.deadLetters, .unknownTopicOrPartition))
        } _: { worker in
            try await eventually("the reason") { worker.status.problems[.topics] != nil }
            let answer = try await worker.admin.ask("/health/ready")
            #expect(answer.status == 503)
            #expect(answer.body.contains(worker.configuration.topics.deadLetters))
            #expect(!answer.body.contains(worker.configuration.topics.tokens))
            try await eventually("the metric") {
                try await worker.admin.ask("/metrics").body.contains("remint_ready{dependency=\"topics\"} 0\n")
            }
            try await worker.broker.inject(.topic(worker.configuration.topics.deadLetters, nil))
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
            try await worker.produce(0..<3)
            try await eventually("every end") { worker.ends.count == 3 }
        }
    }

    @Test func `a worker waits while a removed retry tier holds events`() async throws {
        let topic = "remint.retries.7m"
        try await RunningWorker.with { broker, _ in
            try await broker.createTopic(topic, partitions: 2)
            let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
            let errors = await producer.deliver([ProducerRecord(topic: topic, key: nil, value: [1])])
            await producer.close(within: patience)
            #expect(errors.compactMap { $0 }.isEmpty)
        } _: { worker in
            try await eventually("the reason") { worker.status.problems[.topics]?.contains(topic) ?? false }
            #expect(try await worker.admin.ask("/health/ready").status == 503)
            // Somebody deletes it.
            try await worker.broker.inject(.topic(topic, .unknownTopicOrPartition))
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
        }
    }

    @Test func `a retry tier that is empty, and topics that only look like one, keep nobody waiting`() async throws {
        try await RunningWorker.with { broker, _ in
            try await broker.createTopic("remint.retries.7m", partitions: 2)
            try await broker.createTopic("remint.retries.archive", partitions: 1)
            let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
            _ = await producer.deliver([ProducerRecord(topic: "remint.retries.archive", key: nil, value: [1])])
            await producer.close(within: patience)
        } _: { worker in
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
        }
    }

    @Test func `three aborts for one reason make a worker not ready, and a commit makes it ready again`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.broker.inject(
                .errors(.transactionOffsetCommit, Array(repeating: .topicAuthorizationFailed, count: 4)))
            try await worker.produce(0..<3)
            try await eventually("the reason") {
                worker.status.problems[.publishing]?.contains("every transaction is aborted") ?? false
            }
            try await eventually("every end") { worker.ends.count == 3 }
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
        }
    }

    @Test func `a worker that waits for a topic stops when asked to`() async throws {
        try await RunningWorker.with { broker, configuration in
            try await broker.inject(.topic(configuration.topics.tokens, .unknownTopicOrPartition))
        } _: { worker in
            try await eventually("the reason") { worker.status.problems[.topics] != nil }
            try await worker.stop()
        }
    }

    @Test func `a worker stops consuming while the dead letters cannot be written, and goes on by itself`() async throws
    {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.produce(0..<3)
            try await eventually("the first ends") { worker.ends.count == 3 }
            let topic = worker.configuration.topics.deadLetters
            try await worker.broker.inject(.topic(topic, .topicAuthorizationFailed))
            try await worker.produce([Array("nonsense".utf8)])
            try await eventually("the blockage") { worker.status.problems[.publishing] != nil }
            let answer = try await worker.admin.ask("/health/ready")
            #expect(answer.status == 503)
            #expect(answer.body.contains(topic) && answer.body.contains("TOPIC_AUTHORIZATION_FAILED"))
            try await worker.produce(3..<6)
            #expect(worker.ends.count == 3, "nothing is committed past an event without an end")
            try await worker.broker.inject(.topic(topic, nil))
            try await eventually("the other ends") { worker.ends.events.count == 7 }
            #expect(worker.ends.count == 7)
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
        }
    }

    @Test func `a worker stops when asked to while the dead letters cannot be written`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            let topic = worker.configuration.topics.deadLetters
            try await worker.broker.inject(.topic(topic, .topicAuthorizationFailed))
            try await worker.produce([Array("nonsense".utf8)])
            try await eventually("the blockage") { worker.status.problems[.publishing] != nil }
            try await worker.stop()
            #expect(worker.ends.count == 0)
        }
    }

    @Test func `a topic fixed while the group moved on does not block an at_least_once worker forever`() async throws {
        try await RunningWorker.with(more: "delivery: at_least_once") { worker in
            await worker.assigned()
            try await worker.produce(0..<1)
            try await eventually("the first end") { worker.ends.count == 1 }
            worker.status.toggleQuiet()
            await worker.log.line(event: "worker.quiet")
            try await worker.produce([Array("nonsense".utf8)])
            try await worker.broker.inject(.errors(.produce, Array(repeating: .topicAuthorizationFailed, count: 3)))
            worker.status.toggleQuiet()
            // The third refusal of the broker's is the last, and the pause after it is long.
            try await eventually("the blockage") {
                worker.log.lines.count { $0.metadata["kafka.error"]?.hasPrefix("delivering") ?? false } == 3
            }
            #expect(worker.status.problems[.publishing] != nil)
            try await worker.broker.inject(.errors(.heartbeat, Array(repeating: .unknownMemberID, count: 3)))
            try await eventually("the end") { worker.ends.events.count == 2 }
            try await eventually("readiness") { worker.status.problems[.publishing] == nil }
        }
    }

    @Test func `a worker stays in its groups while a commit outlasts the group's poll interval`() async throws {
        let more = "delivery: at_least_once\nworker: { batch: { events: 1 } }"
        // Half of what the pauses of five refusals add up to, and long enough for a loaded machine to come around to the worker.
        let kafka = ["session.timeout.ms: 15000", "max.poll.interval.ms: 15000"]
        try await RunningWorker.with(kafka: kafka, more: more) { worker in
            await worker.assigned()
            try await worker.produce(0..<1)
            try await eventually("the first end") { worker.ends.count == 1 }
            // Half of these are asked for: the library remembers the other half of the refusals by itself.
            worker.status.toggleQuiet()
            await worker.log.line(event: "worker.quiet")
            try await worker.produce(1..<20)
            try await worker.broker.inject(.errors(.produce, Array(repeating: .topicAuthorizationFailed, count: 5)))
            worker.status.toggleQuiet()
            try await eventually("every end") { worker.ends.events.count == 20 }
            #expect(worker.ends.count == 20)
            let lines = worker.log.lines
            #expect(!lines.contains { $0.event == "partitions.revoked" }, "\(lines)")
        }
    }
}
