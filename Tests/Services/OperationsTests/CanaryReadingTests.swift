import AdapterKit
import Foundation
import Kafka
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Keyring
@testable import Operations

/// A canary's outcomes and the reports of its users, read from an embedded broker.
@Suite(.timeLimit(.minutes(5))) struct CanaryReadingTests {
    private static let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))

    private static func token(_ user: Int, _ id: String, version: Int64 = 1) -> ProducerRecord {
        let start = now.seconds - 5, end = start + 3600
        let value = """
            {"app":"a","vendor":"braze","subject":{"user":"u-\(user)"},"token":"e.e.e","algorithm":"RS256",\
            "key_id":"new","issued_at":\(start),"expires_at":\(end),"version":\(version),"event_id":"\(id)"}
            """
        return record(
            "tokens", "a/u-\(user)", value,
            [
                "ce_source": "/remint/a", "ce_type": "remint.token.replaced.v1", "ce_id": id, "remint-key-id": "new",
                "remint-expires-at": "\(end)", "remint-version": "\(version)", "remint-key-ring": "ring",
            ])
    }

    private static func record(
        _ topic: String, _ key: String, _ value: String, _ headers: [String: String]
    ) -> ProducerRecord {
        ProducerRecord(
            topic: topic, key: Array(key.utf8), value: Array(value.utf8),
            headers: headers.sorted { $0.key < $1.key }.map { RecordHeader($0.key, $0.value) })
    }

    private static func report(
        _ user: String, _ topic: String = "events", app: String = "a", code: Int = 20
    ) -> ProducerRecord {
        record(topic, "x", #"{"errorCode":\#(code),"userId":"\#(user)"}"#, ["remint-app": app])
    }

    @Test func `a canary's reading counts the reports behind its answer as the worker reads them`() async throws {
        let broker = try EmbeddedBroker(logger: silent)
        for topic in ["tokens", "events", "jobs"] { try await broker.createTopic(topic, partitions: 1) }
        let configuration = try readConfiguration(
            """
            kafka: { bootstrap_servers: "\(broker.bootstrapServers)" }
            topics: { tokens: tokens, invalidations: events, invalidations_bulk: jobs }
            keys: { ring: { path: ring } }
            apps: { a: { adapter: braze, key: ring, lifetime: 12h } }
            """)
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
        func deliver(_ records: [ProducerRecord]) async {
            let errors = await producer.deliver(records)
            #expect(errors.allSatisfy { $0 == nil })
        }
        await deliver((0..<8).map { Self.token($0, "c-1.1-\($0 + 1)") } + [Self.report("u-0")])
        let tally = CanaryTally(
            of: "new", ring: "ring", job: "c-1.1", firstRow: 0, subjects: (0..<8).map { Array("a/u-\($0)".utf8) })
        var reading = try CanaryReading(
            tally, from: TopicMarks(["tokens": [0]]), configuration, brokers: broker.bootstrapServers,
            maxWait: patience,
            logger: silent, now: { Self.now })
        try await reading.readToEnd()
        #expect(reading.tally.isAnswered && reading.tally.whole.refused == 0)
        reading.listen(
            behind: try await TopicMarks.read(
                ["tokens", "events", "jobs"], configuration, brokers: broker.bootstrapServers, logger: silent))
        try await reading.readToEnd()
        #expect(reading.tally.whole.refused == 0, "the report of u-0 came before the answer")
        // Refusals, one of them where jobs are; then a renewal, a request, and what workers answer with no token.
        await deliver([
            Self.report("u-1"), Self.report("u-2", "jobs"), Self.token(3, "renewal", version: 2),
            Self.record("events", "x", #"{"app":"a","reissue":{"user":"u-4"}}"#, [:]),
            Self.report("u-5", app: "b"), Self.report("u-9"), Self.record("events", "a/u-6", "{", ["remint-app": "a"]),
            Self.report("u-7", code: 25),
        ])
        try await reading.readToEnd()
        #expect(reading.tally.whole.askedAgain == 2 && reading.tally.whole.unheard == 2)
        #expect(reading.tally.isAnswered && reading.lost.isEmpty)
        // Topics that were made anew.
        reading.listen(behind: TopicMarks(["tokens": [0], "events": [999], "jobs": [0]]))
        try await reading.readToEnd()
        #expect(reading.lost == ["events"])
        await reading.close()
        await producer.close(within: patience)
    }
}
