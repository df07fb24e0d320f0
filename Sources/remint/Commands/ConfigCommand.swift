import ArgumentParser
import Vendors
import WorkerConfiguration

/// `remint config`: what there is to configure.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Shows what can be configured.", subcommands: [ConfigSample.self])
}

/// `remint config sample`.
struct ConfigSample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample", abstract: "Prints a configuration with every key, its default and what it means.",
        discussion: "config/remint.yaml is what it prints.")

    func run() {
        Terminal.print(String(SampleConfiguration(registry: .remint).text.dropLast()))
    }
}
