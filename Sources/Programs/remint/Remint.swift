import ArgumentParser
import Keyring

/// The command line.
@main
struct Remint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remint",
        abstract: "Mints replacement tokens for users whose SDK reported a failed authentication.",
        version: Build.version,
        subcommands: [
            DemoCommand.self, RunCommand.self, PickupCommand.self, PickupKeyCommand.self, SignerCommand.self,
            CheckCommand.self,
            ConfigCommand.self, TestCommand.self,
            CodesCommand.self,
            MetricsCommand.self, EmitCommand.self,
            InspectCommand.self, AdapterCommand.self,
            AppsCommand.self, LanesCommand.self, StatusCommand.self, DeadLettersCommand.self, KeysCommand.self,
            LedgerCommand.self, ReissueCommand.self,
            RotateCommand.self, TopicsCommand.self,
        ])

    /// Runs the program. Exit codes: 0 done, 1 wrong request or failed check, 2 usage, 75 try again later.
    static func main() async {
        let command: any ParsableCommand
        do { command = try parseAsRoot() } catch { end(with: error) }
        var invocation = (command as? any AdvisingCommand)?.invocation ?? RemintCommand.Invocation()
        if invocation.brokers != nil { invocation.brokered = brokered(in: Self.self) }
        // The text of an error may name commands too. The command is parsed again, because a parsed one cannot be sent to
        // the task's scope of `invocation`.
        await RemintCommand.$invocation.withValue(invocation) { await runToEnd() }
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
