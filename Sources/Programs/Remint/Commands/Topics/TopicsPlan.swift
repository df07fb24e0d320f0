import ArgumentParser
import Operations

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
