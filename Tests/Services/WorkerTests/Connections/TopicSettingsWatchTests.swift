import AsyncTestSupport
import Operations
import Synchronization
import Telemetry
import Testing
import WorkerTestSupport

@testable import Worker
@testable import WorkerConfiguration

/// Tests of the settings of topics that change while a worker runs.
@Suite struct TopicSettingsWatchTests {
    /// The topics of a configuration as they were created, but for one setting of the token topic.
    private static func plan(_ name: String? = nil, _ value: String = "") throws -> TopicPlan {
        let configuration = try readConfiguration(
            """
            kafka: { bootstrap_servers: 127.0.0.1:9092 }
            keys: { a: { path: a } }
            apps: { shop: { adapter: braze, key: a, lifetime: 12h } }
            """)
        let wanted = WantedTopic.all(configuration)
        let actual = wanted.map { topic in
            var settings = Dictionary(topic.settings.map { ($0.name, $0.value) }) { first, _ in first }
            if topic.use == .tokens, let name { settings[name] = value }
            return (topic.name, ActualTopic(partitions: topic.partitions, replication: 3, settings: settings))
        }
        return TopicPlan(wanted, Dictionary(uniqueKeysWithValues: actual))
    }

    @Test func `a setting that loses tokens degrades the worker until it is right again, and is logged once`()
        async throws
    {
        let (status, log) = (WorkerStatus(), RecordingLog())
        let answer = Mutex<Result<TopicPlan, any Error>>(.success(try Self.plan()))
        let watch = TopicSettingsWatch(
            plan: { try answer.withLock { try $0.get() } }, status: status, logger: log.logger())
        #expect(await watch.look(after: nil) == nil)
        #expect(status.degradations.reasons().isEmpty)

        let wrong = try Self.plan("retention.ms", "60000")
        answer.withLock { $0 = .success(wrong) }
        let reason = try #require(await watch.look(after: nil))
        #expect(reason.hasPrefix("remint.tokens: retention.ms=60000: "))
        #expect(status.degradations.reasons() == [.topics: reason])
        #expect(await watch.look(after: reason) == reason)

        answer.withLock { $0 = .failure(CancellationError()) }
        #expect(await watch.look(after: reason) == reason, "nobody knows better")
        #expect(status.degradations.reasons() == [.topics: reason])

        let right = try Self.plan()
        answer.withLock { $0 = .success(right) }
        #expect(await watch.look(after: reason) == nil)
        #expect(status.degradations.reasons().isEmpty)
        #expect(log.lines.compactMap(\.event) == ["topics.settings-wrong", "topics.settings-right"])
    }

    @Test func `a warning about a topic does not degrade the worker`() async throws {
        let status = WorkerStatus()
        let plan = try Self.plan("max.compaction.lag.ms", "9223372036854775807")
        try #require(!plan.hasErrors && plan.entries.contains { !$0.findings.isEmpty })
        let watch = TopicSettingsWatch(plan: { plan }, status: status, logger: RecordingLog().logger())
        #expect(await watch.look(after: nil) == nil)
        #expect(status.degradations.reasons().isEmpty)
    }
}
