import ArgumentParser
import Operations

/// `remint topics plan`.
struct TopicsPlan: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Shows what would have to be created and changed. Changes nothing.",
        discussion: .help(
            """
            A line begins with + for a topic to create, ~ for one to change, and = for one that is as it should be. Exit code 0;
            with --detailed-exitcode 2 where there is something to do, 0 where there is nothing, anything else for an error.
            """,
            examples: """
                remint topics plan --config remint.yaml --detailed-exitcode
                remint topics plan --config remint.yaml --acls User:remint
                """))

    @OptionGroup var topics: TopicOptions
    var options: ConfigurationOptions { topics.options }
    var brokers: String? { topics.brokers }
    @Flag(help: "Exit with 2 where there is something to do.") var detailedExitcode = false
    @Option(
        help: ArgumentHelp(
            "Print, instead, the kafka-acls commands that let this principal be a worker; asks no broker.",
            valueName: "User:NAME"))
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
