import ArgumentParser
import Vendors
import WorkerConfiguration

/// `remint config`: the configuration's keys.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Prints a sample, the JSON Schema or the effective values of the configuration.",
        discussion: .help(
            examples: """
                remint config sample > remint.yaml
                remint config show --config remint.yaml
                """),
        subcommands: [ConfigSample.self, ConfigSchema.self, ConfigShow.self])
}

/// `remint config sample`.
struct ConfigSample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample", abstract: "Prints a configuration with every key, its default and its meaning.",
        discussion: .help(
            "config/remint.yaml has the same content.",
            examples: """
                remint config sample
                remint config sample > remint.yaml
                """))

    func run() {
        Terminal.print(String(SampleConfiguration(registry: .remint).text.dropLast()))
    }
}

/// `remint config schema`.
struct ConfigSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the JSON Schema of the configuration, for editors.",
        discussion: .help(
            "config/remint.schema.json has the same content.",
            examples: """
                remint config schema
                remint config schema > remint.schema.json
                """))

    func run() {
        Terminal.print(String(ConfigurationSchema(registry: .remint).text.dropLast()))
    }
}

/// `remint config show`.
struct ConfigShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints the effective configuration, and the source of each value.",
        discussion: .help(
            """
            The command prints each value with its source: file and line, "environment" if an environment variable is
            part of the value, or "default". It prints no secrets, and omits keys without a value or a default. The exit
            code is 1 if the configuration is wrong.
            """,
            examples: """
                remint config show --config remint.yaml
                remint config show --config remint.yaml | grep -v default
                """))

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let reader = ConfigurationReader(registry: .remint, source: .system)
        let (effective, diagnostics) = reader.effective(options.config)
        for diagnostic in diagnostics { Terminal.error("\(diagnostic)") }
        guard let effective else { throw ExitCode.failure }
        Terminal.print(String(effective.text.dropLast()))
    }
}
