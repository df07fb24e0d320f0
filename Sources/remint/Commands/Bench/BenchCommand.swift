import ArgumentParser

/// `remint bench`: what things cost on this machine.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measures what things cost on this machine.",
        discussion: """
            Figures are taken in rounds, what is compared in turns within each, and shown as the median with the lowest and
            the highest. A figure is worth something in comparison alone: ratios are taken round by round.
            """,
        subcommands: [
            BenchMint.self, BenchDecode.self, BenchAdmission.self, BenchWorker.self, BenchLedger.self,
        ])
}

/// How a figure is taken.
struct BenchOptions: ParsableArguments {
    @Option(help: "How often everything is measured.") var rounds = 5
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds is at least 1") }
    }
}
