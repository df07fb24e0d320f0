import ArgumentParser
import Logging
import Operations
import WorkerConfiguration

/// `remint topics`: the topics that a configuration needs, beside those that a cluster has.
struct TopicsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics", abstract: "Plans the topics, and creates the missing ones.",
        discussion: .help(
            """
            What they should be follows from the configuration: retention from the longest lifetime and from
            worker.retries.deadline. No command changes a topic that exists. The cluster is asked with the configured
            properties; the principal needs DESCRIBE and DESCRIBE_CONFIGS on the topics, and to create them CREATE.
            """,
            examples: """
                remint topics plan --config remint.yaml
                remint topics create --config remint.yaml
                """), subcommands: [TopicsPlan.self, TopicsCheck.self, TopicsCreate.self])
}

/// The options that name the brokers, and the wishes for the topics.
struct TopicOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The brokers, instead of the configured ones.") var brokers: String?
    @Option(
        help: ArgumentHelp(
            "How many partitions each topic has, but the control topic: one. Default: \(WantedTopic.standardPartitions) where one is created."
        ))
    var partitions: Int?
    @Option(help: "How many copies each partition has. Default: the cluster's.") var replication: Int?

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
