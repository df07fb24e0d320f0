import Operations
import Testing
import WorkerConfiguration
import WorkerTestSupport

/// Tests of the planned topics, and of the findings about topics that differ.
@Suite struct TopicPlanTests {
    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour

    /// Two apps, of 12 h and of 20 d, one with a topic of its own; tries for two days.
    private static func configuration() throws -> Configuration {
        try readConfiguration(
            """
            kafka: { bootstrap_servers: 127.0.0.1:9092, group: shop }
            keys: { a: { path: a } }
            apps:
              short: { adapter: braze, key: a, lifetime: 12h, topics: [shop.own] }
              long: { adapter: braze, key: a, lifetime: 20d }
            worker: { retries: { deadline: 2d, tiers: [10s, 1h] } }
            """)
    }

    /// The topics of `wanted` as `create` would make them, with three copies.
    private static func made(_ wanted: [WantedTopic]) -> [String: ActualTopic] {
        Dictionary(
            uniqueKeysWithValues: wanted.map { topic in
                var settings = ["min.insync.replicas": "2", "max.message.bytes": "1048588"]
                for setting in topic.settings { settings[setting.name] = setting.value }
                return (
                    topic.name,
                    ActualTopic(
                        partitions: topic.partitions, replication: topic.replication ?? 3, settings: settings)
                )
            })
    }

    /// The plan for topics that are as wanted but for `change`.
    private static func plan(
        _ wishes: WantedTopic.Wishes = WantedTopic.Wishes(), _ change: (inout [String: ActualTopic]) -> Void
    ) throws -> TopicPlan {
        let wanted = try WantedTopic.all(configuration(), wishes)
        var actual = made(wanted)
        change(&actual)
        return TopicPlan(wanted, actual)
    }

    private static func setting(_ name: String, of topic: String) throws -> String? {
        let wanted = try WantedTopic.all(configuration()).first { $0.name == topic }
        return wanted?.settings.first { $0.name == name }?.value
    }

    /// A topic, its limit, and the severity of the finding.
    @Test(
        arguments: [
            ("remint.tokens", "1200", .error), ("remint.tokens", "16383", .error), ("remint.tokens", "16384", nil),
            ("remint.dead-letters", "1200", .error), ("remint.dead-letters", "16384", .warning),
            ("remint.dead-letters", "1048588", nil), ("remint.control", "1200", nil),
        ] as [(String, String, TopicFinding.Severity?)])
    func `a limit below a token's or a letter's size is an error`(
        _ topic: String, _ limit: String, _ severity: TopicFinding.Severity?
    ) throws {
        let plan = try Self.plan { $0[topic]?.settings["max.message.bytes"] = limit }
        let findings = plan.entries.flatMap(\.findings)
        #expect(findings.map(\.severity) == (severity.map { [$0] } ?? []))
        #expect(findings.allSatisfy { $0.message.hasPrefix("max.message.bytes=\(limit): ") })
        #expect(plan.hasErrors == (severity == .error))
    }

    // MARK: What is wanted

    @Test func `every topic of the configuration is wanted once, the control topic in one partition`() throws {
        let wanted = try WantedTopic.all(Self.configuration(), WantedTopic.Wishes(partitions: 12))
        #expect(
            wanted.map(\.name) == [
                "remint.invalidations", "remint.invalidations.bulk", "shop.own", "remint.retries.10s",
                "remint.retries.1h", "remint.tokens", "remint.dead-letters", "remint.dead-letters.parked",
                "remint.control",
            ])
        #expect(wanted.filter { $0.use != .control }.allSatisfy { $0.partitions == 12 })
        #expect(wanted.last?.partitions == 1)
        #expect(try WantedTopic.all(Self.configuration()).first?.partitions == WantedTopic.standardPartitions)
    }

    @Test func `retention and lag follow from lifetimes and deadline`() throws {
        #expect(try Self.setting("cleanup.policy", of: "remint.tokens") == "compact,delete")
        #expect(try Self.setting("retention.ms", of: "remint.tokens") == String(40 * Self.day))
        #expect(try Self.setting("max.compaction.lag.ms", of: "remint.tokens") == String(Self.day))
        #expect(try Self.setting("retention.ms", of: "remint.retries.10s") == String(7 * Self.day))
        #expect(try Self.setting("cleanup.policy", of: "remint.control") == "compact")
        #expect(try Self.setting("retention.ms", of: "remint.control") == nil)
    }

    @Test(arguments: [(1, "1"), (2, "1"), (3, "2"), (5, "2")])
    func `the wanted number of copies sets the wanted number in sync`(replication: Int, minimum: String) throws {
        let wanted = try WantedTopic.all(Self.configuration(), WantedTopic.Wishes(replication: replication))
        for topic in wanted {
            #expect(topic.replication == replication)
            #expect(topic.settings.first { $0.name == "min.insync.replicas" }?.value == minimum)
        }
    }

    // MARK: What lies between

    @Test func `topics that are as wanted have no findings`() throws {
        let plan = try Self.plan(WantedTopic.Wishes(partitions: 4, replication: 3)) { _ in }
        #expect(plan.unsettled == 0)
        #expect(plan.missing.isEmpty)
        #expect(!plan.hasErrors)
        #expect(plan.entries.allSatisfy { $0.findings.isEmpty })
    }

    @Test func `everything is missing from an empty cluster`() throws {
        let wanted = try WantedTopic.all(Self.configuration())
        let plan = TopicPlan(wanted, [:])
        let harmless = plan.entries.filter { $0.findings.contains { $0.severity != .error } }
        #expect(harmless.map(\.wanted.use) == [.parkedLetters], "no worker needs it")
        #expect(plan.missing == wanted)
        #expect(plan.unsettled == wanted.count)
        #expect(plan.hasErrors)
        #expect(plan.entries.allSatisfy { $0.findings.count == 1 && $0.changes.isEmpty })
    }

    struct Fault: Sendable {
        let topic: String
        let settings: [String: String]
        /// The severity and the beginning of the finding; nil for no finding.
        let severity: TopicFinding.Severity?
        let message: String

        init(_ topic: String, _ settings: [String: String], _ severity: TopicFinding.Severity?, _ message: String = "")
        {
            self.topic = topic
            self.settings = settings
            self.severity = severity
            self.message = message
        }
    }

    private static let faults = [
        Fault("remint.tokens", ["retention.ms": "\(20 * day - 1)"], .error, "tokens are deleted while they live"),
        Fault("remint.tokens", ["retention.ms": "\(20 * day)"], nil),
        Fault("remint.tokens", ["retention.ms": "-1"], nil),
        Fault("remint.tokens", ["cleanup.policy": "delete"], .error, "age alone decides"),
        Fault("remint.tokens", ["cleanup.policy": "delete, compact"], nil),
        // Nothing is deleted by age, so that the age says nothing.
        Fault(
            "remint.tokens", ["cleanup.policy": "compact", "retention.ms": "1"], .warning,
            "expired tokens stay forever"),
        Fault("remint.tokens", ["min.compaction.lag.ms": "\(20 * day + 1)"], .error, "dead tokens are kept for longer"),
        Fault(
            "remint.tokens", ["max.compaction.lag.ms": "\(Int64.max)"], .warning, "dead tokens may be kept for longer"),
        Fault("remint.retries.1h", ["retention.ms": "\(2 * day - 1)"], .error, "events are deleted before"),
        Fault("remint.retries.1h", ["cleanup.policy": "compact"], .error, "events with one key drop each other"),
        Fault("remint.invalidations", ["retention.ms": "\(day)"], .warning, "events that wait out an outage"),
        Fault("remint.invalidations", ["compression.type": "producer"], .warning, "one small batch can unpack"),
        // The brokers store a producer's batch as it came if it has this codec.
        Fault("shop.own", ["compression.type": "zstd"], .warning, "one small batch can unpack"),
        Fault("shop.own", ["cleanup.policy": "compact,delete"], .error, "events with one key drop each other"),
        Fault("remint.dead-letters", ["retention.ms": "\(day)"], .warning, "dead letters are gone within a week"),
        Fault(
            "remint.dead-letters.parked", ["retention.ms": "\(29 * day)"], .warning, "parked letters are gone within"),
        Fault(
            "remint.dead-letters", ["message.timestamp.type": "CreateTime"], .warning, "workers learn no broker's time"),
        Fault("remint.control", ["cleanup.policy": "delete"], .error, "suspensions and pauses are forgotten"),
        Fault("remint.control", ["cleanup.policy": "compact,delete"], .error, "suspensions and pauses are forgotten"),
    ]

    @Test(arguments: faults) func `a setting that differs is a finding with its consequence`(_ fault: Fault) throws {
        let plan = try Self.plan { actual in
            actual[fault.topic]?.settings.merge(fault.settings) { _, new in new }
        }
        let said = plan.entries.flatMap(\.findings)
        let entry = try #require(plan.entries.first { $0.wanted.name == fault.topic })
        guard let severity = fault.severity else {
            #expect(said.isEmpty)
            #expect(plan.unsettled == 0)
            return
        }
        let finding = try #require(entry.findings.first)
        #expect(said.count == 1)
        #expect(finding.severity == severity)
        #expect(finding.message.contains(fault.message), "\(finding.message)")
        #expect(entry.changes.count == 1)
        let change = try #require(entry.changes.first)
        #expect(fault.settings[change.what] == change.actual)
        #expect(finding.message.contains("set it to \(change.wanted)"))
        #expect(plan.hasErrors == (severity == .error))
    }

    @Test func `a setting that a broker does not know is no finding`() throws {
        let plan = try Self.plan { actual in actual["remint.tokens"]?.settings["max.compaction.lag.ms"] = nil }
        #expect(plan.unsettled == 0)
    }

    struct Copies: Sendable {
        let copies: Int
        let minimum: String
        let severity: TopicFinding.Severity?
    }

    @Test(arguments: [
        Copies(copies: 1, minimum: "2", severity: .error), Copies(copies: 2, minimum: "3", severity: .error),
        Copies(copies: 1, minimum: "1", severity: .warning), Copies(copies: 2, minimum: "2", severity: .warning),
        Copies(copies: 3, minimum: "2", severity: nil), Copies(copies: 0, minimum: "2", severity: nil),
    ])
    func `the number of copies is compared with how many must be in sync`(_ copies: Copies) throws {
        let plan = try Self.plan { actual in
            actual["remint.tokens"]?.replication = copies.copies
            actual["remint.tokens"]?.settings["min.insync.replicas"] = copies.minimum
        }
        #expect(plan.entries.flatMap(\.findings).map(\.severity) == (copies.severity.map { [$0] } ?? []))
    }

    @Test func `too few partitions and copies are changes, and too many are not`() throws {
        let plan = try Self.plan(WantedTopic.Wishes(partitions: 6, replication: 3)) { actual in
            actual["remint.tokens"]?.partitions = 5
            actual["shop.own"]?.replication = 2
            actual["remint.retries.10s"]?.partitions = 7
            actual["remint.control"]?.partitions = 6
        }
        let changes = plan.entries.flatMap(\.changes)
        #expect(
            changes.map { "\($0.what) \($0.actual) \($0.wanted)" } == ["replication 2 3", "partitions 5 6"])
        let unasked = try Self.plan { actual in actual["remint.tokens"]?.partitions = 1 }
        #expect(unasked.unsettled == 0)
    }

    @Test func `an input with another number of partitions than the first one is a warning`() throws {
        let plan = try Self.plan { actual in
            for topic in ["shop.own", "remint.retries.1h", "remint.tokens", "remint.control"] {
                actual[topic]?.partitions = 7
            }
        }
        let unlike = plan.entries.filter { !$0.findings.isEmpty }
        #expect(unlike.map(\.wanted.name) == ["shop.own", "remint.retries.1h"])
        #expect(unlike.flatMap(\.findings).map(\.severity) == [.warning, .warning])
        let start = "7 partitions, but remint.invalidations has 6: "
        #expect(unlike.allSatisfy { $0.findings[0].message.hasPrefix(start) })
        #expect(plan.unsettled == 0, "no command takes partitions away")
    }

    @Test func `dead letters must take what the inputs take`() throws {
        let plan = try Self.plan { actual in actual["shop.own"]?.settings["max.message.bytes"] = "2000000" }
        let entry = try #require(plan.entries.first { !$0.findings.isEmpty })
        #expect(entry.wanted.use == .deadLetters)
        #expect(entry.findings.map(\.severity) == [.warning])
        #expect(entry.findings[0].message.contains("set it to 2000000"))
    }

    // MARK: What a worker may do

    @Test func `the grants name every topic, the groups and the transactions`() throws {
        var configuration = try Self.configuration()
        let commands = WorkerGrants(configuration).commands(for: "User:remint", brokers: "kafka:9092")
        let text = commands.joined(separator: "\n")
        for topic in WantedTopic.all(configuration) where topic.use != .parkedLetters {
            #expect(text.contains("--topic '\(topic.name)'"))
        }
        #expect(
            commands.contains(
                "kafka-acls.sh --bootstrap-server 'kafka:9092' --add --allow-principal 'User:remint' --operation Read --group 'shop' --group 'shop-retries' --group 'shop-bulk'"
            ))
        #expect(text.contains("--transactional-id 'shop-' --resource-pattern-type prefixed"))
        configuration.delivery = .atLeastOnce
        let fewer = WorkerGrants(configuration).commands(for: "User:it's", brokers: "kafka:9092")
        #expect(!fewer.joined().contains("transactional"))
        #expect(fewer[0].contains(#"--allow-principal 'User:it'\''s'"#))
    }
}
