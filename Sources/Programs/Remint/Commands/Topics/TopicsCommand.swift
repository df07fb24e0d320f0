import AdapterKit
import ArgumentParser
import Formats
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

/// `remint topics check`.
struct TopicsCheck: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Reports topics that lose records or keep them too long. Changes nothing.",
        discussion: .help(
            """
            Each line has the severity (error or warning), the topic and the problem. The exit code is 1 if there is an
            error. An error means that a topic loses events or tokens, keeps expired tokens, or keeps a worker from
            working.
            """,
            examples: """
                remint topics check --config remint.yaml
                remint topics check --config remint.yaml --json
                """))

    @OptionGroup var topics: TopicOptions
    var options: ConfigurationOptions { topics.options }
    var brokers: String? { topics.brokers }
    @Flag(help: "Print the findings as JSON.") var json = false

    func run() async throws {
        let plan = try await topics.plan().plan
        if json {
            Terminal.print(plan.json)
        } else {
            for line in plan.findings { Terminal.error(line) }
            if !plan.hasErrors { Terminal.print("\(topics.options.config): ok: \(plan.entries.count.of("topic"))") }
        }
        if plan.hasErrors { throw ExitCode.failure }
    }
}

/// `remint topics create`.
struct TopicsCreate: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates the missing topics. Changes no existing topic.",
        discussion: .help(
            "The exit code is 1 if a topic could not be created. The command still creates the other topics.",
            examples: """
                remint topics create --config remint.yaml
                remint topics create --config remint.yaml --partitions 6 --replication 3
                """))

    @OptionGroup var topics: TopicOptions
    var options: ConfigurationOptions { topics.options }
    var brokers: String? { topics.brokers }
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let (plan, cluster) = try await topics.plan()
        var created: [String] = []
        var failed: [String] = []
        try await cluster.create(plan.missing) { topic, error in
            if let error {
                failed.append(topic.name)
                Terminal.error("remint: \(error)")
            } else {
                created.append(topic.name)
                if !json { Terminal.print("created \(topic.name): \(topic.summary)") }
            }
        }
        let differing = plan.unsettled - plan.missing.count
        if json {
            Terminal.print(report(created, failed, differing))
        } else {
            if plan.missing.isEmpty { Terminal.print("all \(plan.entries.count.of("topic")) exist") }
            if differing > 0 {
                Terminal.error("remint: topics that exist and differ: \(differing); see: remint topics plan")
            }
        }
        if !failed.isEmpty { throw ExitCode.failure }
    }

    private func report(_ created: [String], _ failed: [String], _ differing: Int) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, topics) in [("created", created), ("failed", failed)] {
            writer.name(name)
            writer.beginArray()
            for topic in topics { writer.string(topic) }
            writer.endArray()
        }
        writer.member("differing", Int64(differing))
        writer.endObject()
        return writer.printable
    }
}

/// `remint topics plan`.
struct TopicsPlan: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Shows the topics that you must create or change. Changes nothing.",
        discussion: .help(
            """
            A line begins with + for a topic to create, ~ for a topic to change, and = for a correct topic. The exit
            code is 0. With --detailed-exitcode, it is 2 if there is a topic to create or change, 0 if there is none,
            and another number for an error.
            """,
            examples: """
                remint topics plan --config remint.yaml --detailed-exitcode
                remint topics plan --config remint.yaml --acls User:remint
                """))

    @OptionGroup var topics: TopicOptions
    var options: ConfigurationOptions { topics.options }
    var brokers: String? { topics.brokers }
    @Flag(help: "Exit with 2 if there is a topic to create or change.") var detailedExitcode = false
    @Option(
        help: ArgumentHelp(
            """
            Principal of a worker. The command prints only the kafka-acls commands for this principal, and asks no \
            broker.
            """, valueName: "User:NAME"))
    var acls: String?
    @Flag(help: "Print the plan as JSON.") var json = false

    func validate() throws {
        guard acls == nil || !(json || detailedExitcode) else {
            throw ValidationError("--acls prints commands alone; leave --json and --detailed-exitcode out")
        }
        if let acls, !acls.contains(":") { throw ValidationError("--acls takes a principal such as User:remint") }
    }

    func run() async throws {
        if let acls {
            let (configuration, brokers) = try topics.load()
            for command in WorkerGrants(configuration).commands(for: acls, brokers: brokers) { Terminal.print(command) }
            return
        }
        let plan = try await topics.plan().plan
        if json {
            Terminal.print(plan.json)
        } else {
            for line in plan.lines { Terminal.print(line) }
            for line in plan.findings { Terminal.error(line) }
        }
        if detailedExitcode, plan.unsettled > 0 { throw ExitCode(2) }
    }
}

extension WantedTopic {
    /// The topic's partitions, copies and settings at its creation, in a line.
    var summary: String {
        let copies = replication.map { $0.of("copy", "copies") } ?? "the cluster's number of copies"
        return (["\(partitions.of("partition")), \(copies)"] + settings.map { "\($0.name)=\($0.value)" })
            .joined(separator: " ")
    }
}

extension TopicPlan {
    /// A line for each topic and each change, and one for all.
    var lines: [String] {
        var lines: [String] = []
        for entry in entries {
            let name = entry.wanted.name
            if entry.actual == nil {
                lines.append("+ \(name): \(entry.wanted.summary)")
            } else if entry.changes.isEmpty {
                lines.append("= \(name)")
            } else {
                let changes = entry.changes.map { "\($0.what) \($0.actual.printable()) → \($0.wanted)" }
                lines.append("~ \(name): \(changes.joined(separator: ", "))")
            }
        }
        let create = missing.count
        lines.append(
            "\(create) to create, \(unsettled - create) to change, \(entries.count - unsettled) as they should be")
        return lines
    }

    /// The findings about the topics, a line each.
    var findings: [String] {
        entries.flatMap { entry in
            entry.findings.map { "\($0.severity): \(entry.wanted.name): \($0.message.printable(limit: 400))" }
        }
    }

    /// The whole plan as JSON.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("ok")
        writer.bool(!hasErrors)
        writer.member("to_create", Int64(missing.count))
        writer.member("to_change", Int64(unsettled - missing.count))
        writer.name("topics")
        writer.beginArray()
        for entry in entries { entry.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.printable
    }
}

extension TopicPlan.Entry {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("topic", wanted.name)
        writer.member("use", wanted.use.rawValue)
        writer.member("action", actual == nil ? "create" : changes.isEmpty ? "none" : "change")
        writer.member("partitions", Int64(actual?.partitions ?? wanted.partitions))
        if let copies = actual?.replication ?? wanted.replication { writer.member("replication", Int64(copies)) }
        writer.name("settings")
        writer.beginObject()
        for setting in wanted.settings {
            if let value = actual == nil ? setting.value : actual?.settings[setting.name] {
                writer.member(setting.name, value)
            }
        }
        writer.endObject()
        writer.name("changes")
        writer.beginArray()
        for change in changes {
            writer.beginObject()
            writer.member("what", change.what)
            writer.member("actual", change.actual)
            writer.member("wanted", change.wanted)
            writer.endObject()
        }
        writer.endArray()
        writer.name("findings")
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            writer.member("severity", finding.severity.rawValue)
            writer.member("message", finding.message)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}
