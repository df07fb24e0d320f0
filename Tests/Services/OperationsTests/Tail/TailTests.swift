import AdapterKit
import Kafka
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Operations

/// Tests of a tail: its records as a person sees them, and their order.
@Suite(.timeLimit(.minutes(5))) struct TailTests {
    private static let now = UnixTime(seconds: 1_795_500_000)
    private static let signature = "c2VjcmV0LXNpZ25hdHVyZQ"

    private static func topics() async throws -> (EmbeddedBroker, Configuration) {
        let broker = try EmbeddedBroker(logger: silent)
        for topic in ["events", "tokens", "dead"] { try await broker.createTopic(topic, partitions: 1) }
        let configuration = try readConfiguration(
            """
            kafka: { bootstrap_servers: "\(broker.bootstrapServers)" }
            topics: { invalidations: events, tokens: tokens, dead_letters: dead }
            keys: { ring: { path: ring } }
            apps: { a: { adapter: braze, key: ring, lifetime: 12h } }
            """)
        return (broker, configuration)
    }

    private static func token(_ user: String) -> ProducerRecord {
        let header = Base64.url.encode(Array(#"{"alg":"RS256","kid":"k"}"#.utf8))
        let claims = Base64.url.encode(Array(#"{"sub":"\#(user)","exp":1795503600}"#.utf8))
        let (start, end) = (now.seconds, now.seconds + 3600)
        let value = """
            {"app":"a","vendor":"braze","subject":{"user":"\(user)"},"token":"\(header).\(claims).\(signature)",\
            "algorithm":"RS256","key_id":"k","issued_at":\(start),"expires_at":\(end),"version":7,"event_id":"e-\(user)"}
            """
        let headers = [
            ("ce_source", "/remint/a"), ("ce_type", "remint.token.replaced.v1"), ("remint-key-id", "k"),
            ("remint-expires-at", "\(end)"), ("remint-version", "7"), ("remint-key-ring", "ring"),
        ]
        return ProducerRecord(
            topic: "tokens", key: Array("a/\(user)".utf8), value: Array(value.utf8),
            headers: headers.map { RecordHeader($0.0, $0.1) })
    }

    private static func report(_ user: String, to topic: String, headers: [RecordHeader] = []) -> ProducerRecord {
        let value =
            #"{"app":"a","id":"r-\#(user)","report":{"errorCode":22,"userId":"\#(user)","signature":"\#(signature)"}}"#
        return ProducerRecord(topic: topic, key: nil, value: Array(value.utf8), headers: headers)
    }

    private static func letter(_ user: String) -> ProducerRecord {
        let headers = [
            (HopHeaders.code, "key_unavailable"), (HopHeaders.stage, "mint"), (HopHeaders.detail, "no active key"),
            (HopHeaders.topic, "events"), (HopHeaders.partition, "0"), (HopHeaders.offset, "3"),
            (HopHeaders.failedAt, now.description),
        ]
        return report(user, to: "dead", headers: headers.map { RecordHeader($0.0, $0.1) })
    }

    @Test func `a token in the place of a user or of a fact is not shown`() {
        let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.\(Self.signature)"
        var shown = TailedRecord(
            kind: .event, position: RecordPosition(topic: "t", partition: 0, offset: 0), time: nil)
        shown.subject = Subject(user: token)
        shown.app = token
        shown.add("event", token)
        for text in [shown.line, String(decoding: shown.json, as: UTF8.self)] {
            #expect(!text.contains(Self.signature) && text.contains("(redacted, "), "\(text)")
        }
        shown.subject = Subject(user: "hey.Jude@the.beyJa.example")
        #expect(shown.user?.contains("redacted") == true, "a doubtful id is not shown")
        shown.subject = Subject(user: "heyJude@example.com")
        #expect(shown.user == "heyJude@example.com")
    }

    private static func deliver(_ records: [ProducerRecord], to broker: EmbeddedBroker) async throws {
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
        let errors = await producer.deliver(records)
        #expect(errors.allSatisfy { $0 == nil })
        await producer.close(within: patience)
    }

    /// Reads `count` records of `tail`.
    private static func read(
        _ count: Int, of tail: TopicTail, _ configuration: Configuration
    ) async throws -> [TailedRecord] {
        let reader = TailReader(configuration)
        var found: [TailedRecord] = []
        try await tail.follow { record in
            found.append(reader.read(record, at: now))
            return found.count < count
        }
        return found
    }

    @Test func `a tail shows tokens, dead letters and events with their users, and no secret of them`() async throws {
        let (broker, configuration) = try await Self.topics()
        try await Self.deliver([Self.token("u-1"), Self.letter("u-2"), Self.report("u-3", to: "events")], to: broker)
        let tail = try await TopicTail(
            of: ["tokens", "dead", "events"], from: .beginning, configuration, brokers: broker.bootstrapServers,
            logger: silent)
        let found = try await Self.read(3, of: tail, configuration)
        let byKind = Dictionary(uniqueKeysWithValues: found.map { ($0.kind, $0) })
        let token = try #require(byKind[.token])
        #expect(token.app == "a" && token.user == "u-1")
        let names = ["event", "version", "algorithm", "key id", "expires", "claims", "digest"]
        #expect(token.facts.map { $0.name } == names)
        #expect(token.facts.first { $0.name == "claims" }?.value == "sub exp")
        #expect(token.facts.last?.value.utf8.count == 16)
        let letter = try #require(byKind[.deadLetter])
        #expect(letter.app == "a" && letter.user == "u-2" && letter.time == Self.now)
        #expect(letter.facts.first { $0.name == "code" }?.value == "key_unavailable")
        let event = try #require(byKind[.event])
        #expect(event.app == "a" && event.user == "u-3")
        #expect(event.line.contains(#""errorCode":22"#))
        for record in found {
            for text in [record.line, String(decoding: record.json, as: UTF8.self)] {
                #expect(!text.contains(Self.signature) && !text.contains("eyJ"), "\(text)")
            }
            #expect(throws: Never.self) { try JSONDocument(parsing: record.json) }
        }
        await broker.close()
    }

    @Test func `a tail from the end begins with the next record`() async throws {
        let (broker, configuration) = try await Self.topics()
        try await Self.deliver([Self.token("u-1")], to: broker)
        let tail = try await TopicTail(
            of: ["tokens", "dead"], from: .end, configuration, brokers: broker.bootstrapServers, logger: silent)
        try await Self.deliver([Self.token("u-2")], to: broker)
        let found = try await Self.read(1, of: tail, configuration)
        #expect(found.map(\.user) == ["u-2"])
        await broker.close()
    }

    @Test func `a tail from a time shows the records since then, also on an embedded broker`() async throws {
        let (broker, served) = try await Self.topics()
        var configuration = served
        configuration.kafka.bootstrapServers = "embedded"
        try await Self.deliver([Self.token("u-1")], to: broker)
        let tail = try await TopicTail(
            of: ["tokens"], from: .time(Self.now), configuration, brokers: broker.bootstrapServers, logger: silent)
        let found = try await Self.read(1, of: tail, configuration)
        #expect(found.map(\.user) == ["u-1"])
        await broker.close()
    }

    @Test func `a record that is no token's is shown with its fault`() async throws {
        let (broker, configuration) = try await Self.topics()
        try await Self.deliver(
            [ProducerRecord(topic: "tokens", key: Array("a/u".utf8), value: Array("x".utf8))], to: broker)
        let tail = try await TopicTail(
            of: ["tokens"], from: .beginning, configuration, brokers: broker.bootstrapServers, logger: silent)
        let found = try await Self.read(1, of: tail, configuration)
        #expect(found.first?.facts.map { $0.name } == ["fault"])
        await broker.close()
    }

    @Test func `a filter selects an app and a user by any of the ids`() {
        var record = TailedRecord(
            kind: .event, position: RecordPosition(topic: "t", partition: 0, offset: 0), time: nil)
        #expect(TailFilter().matches(record))
        #expect(!TailFilter(user: "u").matches(record) && !TailFilter(app: "a").matches(record))
        record.app = "a"
        let ids = [("registered", "u"), ("cookie", "c")]
        record.subject = Subject(identifiers: ids.map { Subject.Identifier(name: $0.0, value: $0.1) })
        #expect(TailFilter(app: "a", user: "c").matches(record))
        #expect(!TailFilter(app: "b", user: "c").matches(record) && !TailFilter(user: "registered").matches(record))
    }
}
