import ArgumentParser
import Keyring

/// The command line.
struct RemintCommandLine: AsyncParsableCommand {
    /// The configuration. The text of `--version` depends on the arguments of the command that runs.
    static var configuration: CommandConfiguration {
        var configuration = fixed
        configuration.version = Build.report
        return configuration
    }

    private static let fixed = CommandConfiguration(
        commandName: "remint",
        abstract: "Mints replacement tokens for users whose SDK reported a failed authentication.",
        discussion: .help(
            """
            Exit codes: 0 done; 1 wrong request or failed check; 2 wrong use; 75 try again later.

            --version prints the version, and the build on a second line; with --json, both as one JSON object.
            """,
            examples: """
                remint demo
                remint check --config remint.yaml --connect
                """),
        groupedSubcommands: [
            CommandGroup(name: "Services", subcommands: [RunCommand.self, PickupCommand.self, SignerCommand.self]),
            CommandGroup(
                name: "Setup",
                subcommands: [
                    InitCommand.self, DemoCommand.self, ConfigCommand.self, CheckCommand.self, TestCommand.self,
                    TopicsCommand.self, AdapterCommand.self, PickupKeyCommand.self,
                ]),
            CommandGroup(
                name: "Keys",
                subcommands: [KeysCommand.self, RotateCommand.self, ReissueCommand.self, LedgerCommand.self]),
            CommandGroup(
                name: "Operation",
                subcommands: [StatusCommand.self, AppsCommand.self, LanesCommand.self, DeadLettersCommand.self]),
            CommandGroup(
                name: "Inspection",
                subcommands: [
                    TailCommand.self, EmitCommand.self, InspectCommand.self, CodesCommand.self, MetricsCommand.self,
                ]),
        ])

    /// Runs the command that the context's arguments name, and returns its exit code: 0 done, 1 wrong request or failed check,
    /// 2 usage, 75 try again later.
    static func answer() async -> Int32 {
        var invocation = RemintCommand.Invocation()
        do throws(ExitCode) {
            if let command = try parse() as? any AdvisingCommand { invocation = command.invocation }
        } catch { return error.rawValue }
        if invocation.brokers != nil { invocation.brokered = brokered(in: Self.self) }
        // The text of an error may name commands too. The command is parsed again, because a parsed one cannot be sent to
        // the task's scope of `invocation`.
        return await RemintCommand.$invocation.withValue(invocation) { await exitCode() }
    }

    /// Returns the commands below `command` that accept `--brokers`, as their help lists them.
    private static func brokered(in command: any ParsableCommand.Type, named name: String = "") -> Set<String> {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty else { return helpMessage(for: command).contains("--brokers <") ? [name] : [] }
        var found: Set<String> = []
        for subcommand in subcommands {
            let part = subcommand.configuration.commandName ?? ""
            let below = brokered(in: subcommand, named: name.isEmpty ? part : "\(name) \(part)")
            found.formUnion(below)
            if subcommand == command.configuration.defaultSubcommand, !below.isEmpty { found.insert(name) }
        }
        return found
    }
}
