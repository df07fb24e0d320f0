import ArgumentParser

/// `remint bench`: what things cost on this machine.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measures what things cost on this machine.", subcommands: [BenchLedger.self])
}
