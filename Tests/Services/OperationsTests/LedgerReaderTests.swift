import AdapterKit
import Kafka
import Pipeline
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Operations

/// The ledger, read from an embedded broker.
@Suite(.timeLimit(.minutes(5))) struct LedgerReaderTests {
    private static let hash = SubjectHash(high: 1, low: 2)
    private static let now = UnixTime(seconds: 1_795_500_000)

    private static func token(_ user: Int, version: Int64, key: String = "old", life: Int64 = 3600) -> ProducerRecord {
        let start = now.seconds - 60 - Int64(user), end = start + life
        let value = """
            {"app":"a","vendor":"braze","subject":{"user":"u-\(user)"},"token":"e.e.e","algorithm":"RS256",\
            "key_id":"\(key)","issued_at":\(start),"expires_at":\(end),"version":\(version),"event_id":"e"}
            """
        let headers = [
            ("ce_source", "/remint/a"), ("ce_type", "remint.token.replaced.v1"), ("remint-key-id", key),
            ("remint-expires-at", "\(end)"), ("remint-version", "\(version)"), ("remint-key-ring", "ring"),
        ]
        return ProducerRecord(
            topic: "tokens", key: Array("a/u-\(user)".utf8), value: Array(value.utf8),
            headers: headers.map { RecordHeader($0.0, $0.1) })
    }

    /// A token topic with three partitions.
    private static func topic() async throws -> (EmbeddedBroker, Configuration) {
        let broker = try EmbeddedBroker(logger: silent)
        try await broker.createTopic("tokens", partitions: 3)
        let configuration = try readConfiguration(
            """
            kafka: { bootstrap_servers: "\(broker.bootstrapServers)" }
            topics: { tokens: tokens }
            keys: { ring: { path: ring } }
            apps: { a: { adapter: braze, key: ring, lifetime: 12h } }
            """)
        return (broker, configuration)
    }

    private static func tombstone(_ user: Int) -> ProducerRecord {
        ProducerRecord(topic: "tokens", key: Array("a/u-\(user)".utf8), value: nil, headers: [])
    }

    /// With little memory, the keys do not fit beside the table, and each partition is read again for them.
    @Test func `the ledger names the same holders however much memory it may take`() async throws {
        let (broker, configuration) = try await Self.topic()
        let producer = try KafkaProducer(
            ["bootstrap.servers": broker.bootstrapServers, "partitioner": "murmur2_random"], logger: silent)
        // Every third user was given a token of the old version twice, every fourth has one of the new version, every fifth none any
        // more, and every seventh's is over.
        var records = (0..<1200).map { Self.token($0, version: 1, life: $0 % 7 == 0 ? 61 : 3600) }
        records += (0..<1200).filter { $0 % 3 == 0 }.map { Self.token($0, version: 2) }
        records += (0..<1200).filter { $0 % 4 == 0 }.map { Self.token($0, version: 3, key: "new") }
        records += (0..<1200).filter { $0 % 5 == 0 }.map { Self.tombstone($0) }
        let errors = await producer.deliver(records)
        #expect(errors.allSatisfy { $0 == nil })
        await producer.close(within: patience)

        let filter = LedgerFilter(versions: ["old"], of: LedgerRing("ring", in: configuration))
        let meant = (0..<1200).filter { user in
            user % 5 != 0 && user % 4 != 0 && (user % 7 != 0 || user % 3 == 0)
        }
        for memory in [LedgerReader.standardMemory, 4096] {
            let reader = LedgerReader(
                configuration, brokers: broker.bootstrapServers, memory: memory, logger: silent, display: NoDisplay())
            let (holders, hidden) = try await reader.holders(matching: filter, at: Self.now)
            #expect(hidden == nil)
            #expect(holders.map(\.expiresAt) == holders.map(\.expiresAt).sorted(), "those that end first in front")
            let found = holders.sorted { $0.expiresAt > $1.expiresAt }
            let wanted = meant.map { user in
                LedgerHolder(
                    key: Array("a/u-\(user)".utf8), issuedAt: Self.now.seconds - 60 - Int64(user),
                    expiresAt: Self.now.seconds - 60 - Int64(user) + 3600)
            }
            #expect(found == wanted, "with \(memory) bytes")
        }
        await broker.close()
    }

    /// Whatever is published between two readings, the one that goes on behind the last one shows what a whole one does.
    @Test(arguments: [1, 2, 3] as [UInt64]) func `a reading behind the last one shows the same tokens as a whole one`(
        seed: UInt64
    ) async throws {
        let (broker, configuration) = try await Self.topic()
        func producer(_ partitioner: String) throws -> KafkaProducer {
            try KafkaProducer(
                ["bootstrap.servers": broker.bootstrapServers, "partitioner": partitioner], logger: silent)
        }
        let (home, elsewhere) = (try producer("murmur2_random"), try producer("consistent"))
        func reader(remembers: Bool) -> LedgerReader {
            LedgerReader(
                configuration, brokers: broker.bootstrapServers, remembers: remembers, logger: silent,
                display: NoDisplay())
        }
        let filter = LedgerFilter(versions: ["old"], of: LedgerRing("ring", in: configuration))
        let remembering = reader(remembers: true)
        var random = SeededGenerator(seed: seed)
        for round in 1...8 {
            let records = (0..<60).map { _ -> ProducerRecord in
                let user = Int.random(in: 0..<40, using: &random)
                switch Int.random(in: 0..<12, using: &random) {
                case 0: return Self.tombstone(user)
                case 1:
                    return ProducerRecord(topic: "tokens", key: Array("a/u-\(user)".utf8), value: [1], headers: [])
                default:
                    return Self.token(
                        user, version: Int64.random(in: 1...1000, using: &random),
                        key: Bool.random(using: &random) ? "old" : "new")
                }
            }
            #expect(await home.deliver(records).allSatisfy { $0 == nil })
            if round == 6 {
                // As after partitions were added: tokens outside of their subjects' partitions.
                #expect(await elsewhere.deliver(Array(records.prefix(20))).allSatisfy { $0 == nil })
            }
            let whole = reader(remembers: false)
            if round % 3 == 1 {
                let found = try await remembering.holders(matching: filter, at: Self.now).holders
                let wanted = try await whole.holders(matching: filter, at: Self.now).holders
                #expect(Set(found.map(\.key)) == Set(wanted.map(\.key)))
            }
            for _ in 0..<2 {
                let found = try await remembering.holdings(at: Self.now, matching: filter)
                let wanted = try await whole.holdings(at: Self.now, matching: filter)
                #expect(found.list == wanted.list && found.live > 0, "round \(round)")
                #expect(found.strangers == wanted.strangers && found.firstDoubtful == wanted.firstDoubtful)
                #expect(found.subjectCount == wanted.subjectCount && found.unreadable == wanted.unreadable)
            }
        }
        await home.close(within: patience)
        await elsewhere.close(within: patience)
        await broker.close()
    }

    @Test func `keys that become too many to be noted are all forgotten`() {
        var notes = LedgerNotes(limit: 200)
        notes.note(Array("a/u-1".utf8), Self.hash, offset: 4, issuedAt: 9)
        notes.note(Array("a/u-22".utf8), Self.hash, offset: 5, issuedAt: 8)
        var seen: [String] = []
        notes.each { key, _, offset, issuedAt in
            seen.append("\(String(decoding: key, as: UTF8.self)) \(offset) \(issuedAt)")
        }
        #expect(notes.isComplete && seen == ["a/u-1 4 9", "a/u-22 5 8"])
        notes.note([UInt8](repeating: 1, count: 200), Self.hash, offset: 6, issuedAt: 7)
        notes.note([1], Self.hash, offset: 7, issuedAt: 7)
        #expect(!notes.isComplete)
        notes.each { _, _, _, _ in Issue.record("a note is left") }
    }
}
