import ArgumentParser
import Formats
import Operations

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
