import ArgumentParser
import Logging
import Operations
import WorkerConfiguration

/// `remint topics`: the topics that a configuration needs, beside those that a cluster has.
struct TopicsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics", abstract: "Plans and checks the topics, and creates missing topics.",
        discussion: .help(
            """
            The settings of the topics follow from the configuration: for example, the retention follows from the
            longest lifetime and from worker.retries.deadline. No command changes an existing topic. The commands
            connect to the cluster with the configured properties. The principal needs DESCRIBE and DESCRIBE_CONFIGS on
            the topics, and CREATE to create topics.
            """,
            examples: """
                remint topics plan --config remint.yaml
                remint topics create --config remint.yaml
                """), subcommands: [TopicsPlan.self, TopicsCheck.self, TopicsCreate.self])
}

/// The options that name the brokers, and the wishes for the topics.
struct TopicOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Option(
        help: ArgumentHelp(
            "Partitions per topic (control topic: 1). Default for a new topic: \(WantedTopic.standardPartitions)."))
    var partitions: Int?
    @Option(help: "Number of replicas of each partition. Default: the cluster's default.") var replication: Int?

    func validate() throws {
        for (name, value, most) in [("--partitions", partitions, 10_000), ("--replication", replication, 100)] {
            if let value, !(1...most).contains(value) { throw ValidationError("\(name) is from 1 to \(most)") }
        }
    }

    /// Loads the configuration, and returns it with the brokers to ask.
    func load() throws -> (configuration: Configuration, brokers: String) {
        let configuration = try options.loadConfiguration()
        return (configuration, try configuration.brokers(instead: brokers))
    }

    /// Returns the differences between the configuration and the cluster, and the cluster.
    func plan() async throws -> (plan: TopicPlan, cluster: ClusterTopics) {
        let (configuration, brokers) = try load()
        let cluster = ClusterTopics(configuration, brokers: brokers, logger: .quiet(configuration.log))
        let wanted = WantedTopic.all(
            configuration, WantedTopic.Wishes(partitions: partitions, replication: replication))
        return (TopicPlan(wanted, try await cluster.read(wanted)), cluster)
    }
}
