import AdapterKit
import BrazeAdapter
import Kafka
import Pipeline
import Testing
import Worker
import WorkerConfiguration
import WorkerTestSupport

@testable import Wiring

@Suite struct KafkaPropertiesTests {
    private func configuration(_ kafka: String) throws -> Configuration {
        let text = """
            kafka:
            \(kafka)
            keys: { k: { path: k } }
            apps: { a: { adapter: braze, key: k } }
            """
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        let reader = ConfigurationReader(registry: AdapterRegistry([.init(BrazeAdapter.self)]), source: source)
        let (configuration, diagnostics) = reader.read("c.yaml")
        return try #require(configuration, "\(diagnostics)")
    }

    @Test func `the properties of the delivery guarantee cannot be configured away`() throws {
        let configuration = try configuration(
            "  bootstrap_servers: 127.0.0.1:1\n  properties: { client.id: mine, acks: 1 }")
        let properties = KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1")
        #expect(properties.consumer(of: .live)["enable.auto.commit"] == "false")
        #expect(properties.consumer(of: .live)["enable.auto.offset.store"] == "false")
        #expect(properties.consumer(of: .live)["isolation.level"] == "read_committed")
        #expect(properties.consumer(of: .live)["group.id"] == "remint")
        #expect(Lane.allCases.allSatisfy { properties.consumer(of: $0)["auto.offset.reset"] == "error" })
        #expect(properties.reader(group: "g")["auto.offset.reset"] == "earliest")
        #expect(properties.producer["enable.idempotence"] == "true")
        #expect(properties.producer["client.id"] == "mine")
    }

    @Test func `a member of a lane's group is a worker by its client's id or its static name`() throws {
        let configuration = try configuration("  bootstrap_servers: 127.0.0.1:1")
        let properties = KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1")
        let uuid = "6f1f2d3c-aaaa-bbbb-cccc-0123456789ab"
        let name = try #require(properties.member(of: .live, topics: ["t"], place: "w-1")["group.instance.id"])
        func member(_ id: String, _ clientID: String) -> ConsumerGroup.Member {
            ConsumerGroup.Member(id: id, clientID: clientID, host: "/10.0.0.5", partitions: [])
        }
        let strangers = [
            member("rdkafka-\(uuid)", "rdkafka"), member("console-consumer-\(uuid)", "console-consumer"),
            member("w-1-bulk-0123abcd-\(uuid)", "mine"), member("", ""),
        ]
        let workers = [member("\(name)-\(uuid)", "mine"), member("remint-\(uuid)", "remint")]
        #expect(properties.strangers(among: workers + strangers, of: .live) == strangers)
        #expect(strangers[0].strangerText(in: "g").contains("rdkafka-\(uuid) at /10.0.0.5, with 0 partitions"))
    }

    @Test func `a property librdkafka refuses is reported at its place, without its value`() throws {
        let configuration = try configuration(
            """
              bootstrap_servers: 127.0.0.1:1
              properties:
                client.id: mine
                sesion.timeout.ms: 1
                security.protocol: s3cret
            """)
        let found = KafkaProperties.diagnostics(for: configuration)
        #expect(found.map(\.place.line) == [5, 6])
        #expect(found.allSatisfy { $0.severity == .error && !$0.message.contains("s3cret") })
    }

    @Test(
        arguments: [
            (
                "heartbeat.interval.ms: 3334",
                "heartbeat.interval.ms must be at most a third of session.timeout.ms, 3333"
            ),
            ("session.timeout.ms: 6000, heartbeat.interval.ms: 2001", "heartbeat.interval.ms must be at most a third"),
            ("security.protocol: SASL_SSL", "security.protocol needs sasl.mechanism"),
            ("session.timeout.ms: 6000, heartbeat.interval.ms: 2000", nil),
            ("security.protocol: sasl_ssl, sasl.kerberos.keytab: k", nil),
        ] as [(String, String?)])
    func `properties that do not go together are reported in the words of the configuration`(
        _ properties: String, _ message: String?
    ) throws {
        let configuration = try configuration("  bootstrap_servers: 127.0.0.1:1\n  properties: { \(properties) }")
        let found = KafkaProperties.diagnostics(for: configuration, withClients: false)
        #expect(found.count == (message == nil ? 0 : 1))
        #expect(found.first?.message.hasPrefix(message ?? "-") ?? true)
    }

    /// Tests properties that librdkafka checks only when it makes a client, and one that it would check only when it
    /// connects.
    @Test(arguments: [
        "security.protocol: SSL, ssl.ca.location: /nowhere/ca.pem",
        "security.protocol: SASL_PLAINTEXT, sasl.mechanism: SCRAM-SHA-256",
        "security.protocol: SASL_PLAINTEXT, sasl.mechanism: OAUTHBEARER",
        "session.timeout.ms: 6000, max.poll.interval.ms: 1000", "acks: 1",
    ])
    func `properties of which no client can be made are found before one is needed`(_ properties: String) throws {
        let configuration = try configuration(
            "  bootstrap_servers: 127.0.0.1:1\n  properties: { \(properties) }")
        let found = KafkaProperties.diagnostics(for: configuration)
        #expect(found.count >= 1 && found.allSatisfy { $0.severity == .error && $0.place.line == 3 })
    }

    @Test(arguments: [
        "client.id: mine",
        "security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN, sasl.username: u, sasl.password: p",
        "acks: all", "compression.type: lz4",
    ])
    func `properties of which clients can be made have no diagnostics`(_ properties: String) throws {
        let configuration = try configuration(
            "  bootstrap_servers: 127.0.0.1:1\n  properties: { \(properties) }")
        #expect(KafkaProperties.diagnostics(for: configuration).isEmpty)
    }

    @Test func `clients learn of new partitions within half a minute`() throws {
        let properties = KafkaProperties(
            try configuration("  bootstrap_servers: 127.0.0.1:1"), bootstrapServers: "127.0.0.1:1")
        for client in [properties.consumer(of: .live), properties.reader(group: "g"), properties.producer] {
            for name in ["topic.metadata.refresh.interval.ms", "metadata.max.age.ms"] {
                #expect(try #require(client[name].flatMap { Int($0) }) <= 30_000)
            }
        }
    }

    @Test func `the embedded broker gets the clients it needs`() throws {
        let properties = KafkaProperties(
            try configuration("  bootstrap_servers: embedded"), bootstrapServers: "127.0.0.1:7")
        #expect(properties.consumer(of: .live)["session.timeout.ms"] == "6000")
        #expect(properties.consumer(of: .live)["bootstrap.servers"] == "127.0.0.1:7")
    }

    @Test func `each lane has a group of its own`() throws {
        let configuration = try configuration("  bootstrap_servers: 127.0.0.1:1\n  group: shop")
        let properties = KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1")
        #expect(
            Lane.allCases.map { properties.consumer(of: $0)["group.id"] } == ["shop", "shop-retries", "shop-bulk"])
        #expect(
            Set(Lane.allCases.map { properties.consumer(of: $0)["partition.assignment.strategy"] }) == ["range"])
    }

    /// A hung transaction must be aborted before the group hands its partitions on; librdkafka refuses a producer whose
    /// other timeouts are longer.
    @Test(arguments: [
        (lines: [], timeout: "4000"),
        (lines: ["transaction.timeout.ms: 5000"], timeout: "5000"),
        (lines: ["transaction.timeout.ms: 60000"], timeout: "5000"),
        (lines: ["session.timeout.ms: 45000", "transaction.timeout.ms: 60000"], timeout: "22500"),
        (lines: ["session.timeout.ms: 6000"], timeout: "3000"),
        (lines: ["session.timeout.ms: 6000", "transaction.timeout.ms: 60000"], timeout: "3000"),
        (lines: ["transaction.timeout.ms: 10"], timeout: "1000"),
        (lines: ["message.timeout.ms: 300000", "socket.timeout.ms: 60000"], timeout: "4000"),
    ])
    func `a transaction ends well before the session does`(lines: [String], timeout: String) throws {
        let configuration = try configuration(
            "  bootstrap_servers: 127.0.0.1:1\n  properties: { \(lines.joined(separator: ", ")) }")
        let properties = KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1")
        let producer = properties.transactionalProducer(id: "x")
        for name in ["transaction.timeout.ms", "socket.timeout.ms"] {
            #expect(producer[name] == timeout, "\(name)")
        }
        // A record is given up before the brokers give up its transaction.
        #expect(producer["message.timeout.ms"].flatMap { Int($0) } == Int(timeout).map { $0 * 3 / 4 })
        let session = try #require(properties.consumer(of: .live)["session.timeout.ms"].flatMap { Int($0) })
        #expect(try #require(Int(timeout)) * 2 <= session || timeout == "1000")
        #expect(producer["transactional.id"] == "x")
        #expect(properties.producer["transactional.id"] == nil)
        #expect(
            properties.producer["transaction.timeout.ms"]
                == lines.first { $0.hasPrefix("transaction") }.map {
                    String($0.split(separator: " ")[1])
                })
    }

    /// Brokers look for transactions that outlived their timeout every ten seconds.
    @Test func `a worker that never returns holds up its partitions and readers for less than 15 s`() throws {
        let properties = KafkaProperties(
            try configuration("  bootstrap_servers: 127.0.0.1:1"), bootstrapServers: "127.0.0.1:1")
        let consumer = properties.consumer(of: .live)
        let session = try #require(consumer["session.timeout.ms"].flatMap { Int($0) })
        let heartbeat = try #require(consumer["heartbeat.interval.ms"].flatMap { Int($0) })
        let producer = properties.transactionalProducer(id: "x")
        let transaction = try #require(producer["transaction.timeout.ms"].flatMap { Int($0) })
        #expect(session <= 10_000)
        #expect(heartbeat * 3 <= session)
        let live = properties.member(of: .live, topics: ["a"], place: nil)
        #expect(live["heartbeat.interval.ms"] == "100")
        #expect(properties.member(of: .bulk, topics: ["a"], place: nil)["heartbeat.interval.ms"] == "\(heartbeat)")
        for lane in Lane.allCases {
            #expect(properties.member(of: lane, topics: ["a"], place: "x")["enable.partition.eof"] == "true")
        }
        #expect(transaction + 10_000 < 15_000)
    }

    @Test func `a static member's name is the worker's, its lane's and its topics'`() throws {
        let properties = KafkaProperties(
            try configuration("  bootstrap_servers: 127.0.0.1:1"), bootstrapServers: "127.0.0.1:1")
        func name(_ place: String, _ lane: Lane = .live, _ topics: [String] = ["a", "b"]) -> String? {
            properties.member(of: lane, topics: topics, place: place)["group.instance.id"]
        }
        let first = try #require(name("shop-worker-0"))
        #expect(first.hasPrefix("shop-worker-0-live-"))
        #expect(name("shop-worker-0") == first)
        #expect(name("shop-worker-0", .live, ["b", "a"]) == first)
        // A group gives a member that comes back its old partitions, which must not be those of another subscription.
        let others = [
            name("shop-worker-1"), name("shop-worker-0", .bulk), name("shop-worker-0", .retries),
            name("shop-worker-0", .live, ["a", "b", "c"]),
        ]
        #expect(Set(others + [first]).count == 5)
        let long = String(repeating: "w", count: 300)
        // Brokers take the letters of a topic's name, and 249 of them.
        for place in ["it's 7", "été/1", "it_s_7", long] {
            let made = try #require(name(place))
            #expect(made.count <= 249)
            #expect(made.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil, "\(made)")
        }
        #expect(name("it's 7") != name("it_s_7"))
    }

    @Test func `a worker without a lasting name, and a reader, are no static members`() throws {
        let properties = KafkaProperties(
            try configuration("  bootstrap_servers: 127.0.0.1:1"), bootstrapServers: "127.0.0.1:1")
        #expect(properties.member(of: .live, topics: ["t"], place: nil)["group.instance.id"] == nil)
        #expect(properties.consumer(of: .live)["group.instance.id"] == nil)
        #expect(properties.reader(group: "g")["group.instance.id"] == nil)
    }

    @Test func `librdkafka makes clients of the properties`() async throws {
        let configuration = try configuration("  bootstrap_servers: 127.0.0.1:1")
        let properties = KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1")
        for producer in [properties.producer, properties.transactionalProducer(id: "x")] {
            await (try KafkaProducer(producer, logger: silent)).close(within: .zero)
        }
        for lane in Lane.allCases {
            for place in [nil, "shop-worker-0"] {
                let member = properties.member(of: lane, topics: ["t"], place: place)
                let consumer = try KafkaConsumer(member, topics: ["t"], logger: silent)
                #expect(await consumer.close(within: patience))
            }
        }
    }

    @Test func `a reader belongs to no group of the worker's, and learns where partitions end`() throws {
        let configuration = try configuration("  bootstrap_servers: 127.0.0.1:1")
        let reader = KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1").reader(group: "mine")
        #expect(reader["group.id"] == "mine")
        #expect(reader["enable.partition.eof"] == "true")
        #expect(reader["auto.offset.reset"] == "earliest")
        #expect(reader["isolation.level"] == "read_committed")
        #expect(reader["enable.auto.commit"] == "false")
    }
}
