import ArgumentParser

/// The command line.
@main
struct Remint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remint",
        abstract: "Mints replacement tokens for users whose SDK reported a failed authentication.",
        version: "0.1.0",
        subcommands: [DemoCommand.self, RunCommand.self, CheckCommand.self, EmitCommand.self, InspectCommand.self])
}
