import Kafka
package import Logging
import Wiring
package import WorkerConfiguration

package struct WantedTopic: Sendable, Equatable {
    package enum Use: String, Sendable {
        case events
        case tokens
        case retries
        case control
        case deadLetters = "dead_letters"
        case parkedLetters = "parked_letters"
    }

    /// The operator's choices in place of the defaults.
    package struct Wishes: Sendable {
        /// The number of partitions of each topic but the control topic; nil for `standardPartitions` where a topic is
        /// created, and for any number where it exists.
        package var partitions: Int?
        /// The number of replicas of each partition; nil for the cluster's default.
        package var replication: Int?

        package init(partitions: Int? = nil, replication: Int? = nil) {
            self.partitions = partitions
            self.replication = replication
        }
    }

    /// The number of partitions of a new topic where the operator names none.
    package static let standardPartitions = 6

    package let name: String
    package let use: Use
    package let partitions: Int
    /// The minimum number of partitions of an existing topic.
    package let fewestPartitions: Int
    /// The number of replicas of each partition; nil for the cluster's default.
    package let replication: Int?
    /// The topic's settings, in the order in which they are shown.
    package let settings: [TopicSetting]

    /// Returns every topic of `configuration`, inputs first, each once.
    package static func all(_ configuration: Configuration, _ wishes: Wishes = Wishes()) -> [WantedTopic] {
        let topics = configuration.topics
        let times = TopicTimes(configuration)
        func topic(_ name: String, _ use: Use, _ settings: [TopicSetting]) -> WantedTopic {
            WantedTopic(
                name: name, use: use, partitions: use == .control ? 1 : wishes.partitions ?? standardPartitions,
                fewestPartitions: use == .control ? 1 : wishes.partitions ?? 1, replication: wishes.replication,
                settings: settings + durability(wishes))
        }
        return [topics.invalidations, topics.invalidationsBulk].map { topic($0, .events, times.events) }
            + configuration.appTopics.map { topic($0, .events, times.events) }
            + configuration.retryTopics.map { topic($0, .retries, times.retries) }
            + [
                topic(topics.tokens, .tokens, times.tokens),
                topic(topics.deadLetters, .deadLetters, TopicTimes.deadLetters),
                topic(topics.parkedLetters, .parkedLetters, TopicTimes.parkedLetters),
                topic(topics.control, .control, TopicTimes.control),
            ]
    }

    /// Returns the settings that keep acknowledged records through the loss of a broker; empty where the cluster
    /// decides on replicas.
    private static func durability(_ wishes: Wishes) -> [TopicSetting] {
        guard let replication = wishes.replication else { return [] }
        // With two copies of two, one broker that is away stops every writer.
        let copies = replication > 2 ? 2 : 1
        return [
            TopicSetting(
                ReplicationRules.minimumInSync, String(copies),
                [
                    TopicDemand(
                        .atLeast(Int64(copies)), .warning, "an acknowledged record may be in one place alone")
                ])
        ]
    }
}

/// The permissions that a worker's principal needs, as commands for the cluster's own tool.
package struct WorkerGrants: Sendable, Equatable {
    /// Some resources of one kind, and the operations allowed on them.
    struct Grant: Sendable, Equatable {
        let operations: [String]
        let resources: [String]
    }

    let grants: [Grant]

    /// The permissions that a worker with `configuration` needs.
    package init(_ configuration: Configuration) {
        let topics = configuration.topics
        let inputs = [topics.invalidations, topics.invalidationsBulk] + configuration.appTopics
        let group = configuration.kafka.group
        let both = configuration.retryTopics + [topics.tokens, topics.control]
        var grants = [
            Grant(operations: ["Read", "Describe"], resources: Self.named("--topic", inputs)),
            Grant(operations: ["Read", "Write", "Describe"], resources: Self.named("--topic", both)),
            Grant(operations: ["Write", "Describe"], resources: Self.named("--topic", [topics.deadLetters])),
            Grant(
                operations: ["DescribeConfigs"],
                resources: Self.named("--topic", inputs + both + [topics.deadLetters])),
            Grant(
                operations: ["Read"], resources: Self.named("--group", [group, "\(group)-retries", "\(group)-bulk"])),
        ]
        if configuration.delivery == .exactlyOnce {
            grants.append(
                Grant(
                    operations: ["Write", "Describe"],
                    resources: Self.named("--transactional-id", ["\(group)-"])
                        + ["--resource-pattern-type prefixed"]))
        }
        self.grants = grants
    }

    /// Returns the commands that grant the permissions to `principal`, such as `User:remint`, through `brokers`: a line
    /// each, for a shell.
    package func commands(for principal: String, brokers: String) -> [String] {
        grants.map { grant in
            let start = [
                "kafka-acls.sh --bootstrap-server \(Self.quoted(brokers)) --add --allow-principal \(Self.quoted(principal))"
            ]
            return (start + grant.operations.map { "--operation \($0)" } + grant.resources).joined(separator: " ")
        }
    }

    private static func named(_ option: String, _ names: [String]) -> [String] {
        names.map { "\(option) \(quoted($0))" }
    }

    /// Returns `text` as one word of a shell.
    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}

/// The cluster's topics, read and created by an operator's command.
package struct ClusterTopics {
    private static let timeout = Duration.seconds(30)

    private let properties: KafkaProperties
    private let logger: Logger

    /// The topics at `brokers`.
    package init(_ configuration: Configuration, brokers: String, logger: Logger) {
        properties = KafkaProperties(configuration, bootstrapServers: brokers)
        self.logger = logger
    }

    /// Reads the topics of `wanted` that the cluster has and shows, by name. Asking creates none.
    ///
    /// - Throws: `KafkaError`; DESCRIBE and DESCRIBE_CONFIGS on the topics are needed.
    package func read(_ wanted: [WantedTopic]) async throws -> [String: ActualTopic] {
        let names = Set(wanted.map(\.name))
        return try await KafkaProducer(properties.producer, logger: logger).whileOpen { producer in
            let listed = try await producer.topics(within: Self.timeout).filter {
                names.contains($0.name) && $0.partitionCount > 0
            }
            let settings = try await producer.settings(of: listed.map(\.name), within: Self.timeout)
            return Dictionary(
                listed.map { topic in
                    let actual = ActualTopic(
                        partitions: topic.partitionCount, replication: topic.replication,
                        settings: settings[topic.name] ?? [:])
                    return (topic.name, actual)
                }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Creates `topics`, which do not exist. A topic that cannot be created does not stop the others.
    ///
    /// - Parameter each: called with each topic, and with the error if it could not be created.
    /// Returns once the brokers' metadata shows every created topic, or after the timeout.
    ///
    /// - Throws: `KafkaError` where no client can be made.
    package func create(_ topics: [WantedTopic], _ each: (WantedTopic, (any Error)?) -> Void) async throws {
        try await KafkaProducer(properties.producer, logger: logger).whileOpen { producer in
            var unseen: Set<String> = []
            for topic in topics {
                let settings = topic.settings.map { ($0.name, $0.value) }
                do {
                    try await producer.createTopic(
                        topic.name, partitions: topic.partitions, replication: topic.replication,
                        settings: Dictionary(settings, uniquingKeysWith: { first, _ in first }), within: Self.timeout)
                    unseen.insert(topic.name)
                    each(topic, nil)
                } catch {
                    each(topic, error)
                }
            }
            let end = ContinuousClock.now + Self.timeout
            while !unseen.isEmpty, .now < end {
                let listed = try? await producer.topics(within: Self.timeout)
                unseen.subtract(listed?.filter { $0.partitionCount > 0 }.map(\.name) ?? [])
                // A broker has no event for a topic that it has come to know.
                if !unseen.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
            }
        }
    }
}
