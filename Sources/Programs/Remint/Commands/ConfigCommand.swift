import AdapterKit
import ArgumentParser
import DeclaredAdapters
import Pickup
import Vendors
import Worker
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

/// `remint codes`: the reasons for dead letters, or the codes of a vendor's SDKs.
struct CodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codes",
        abstract: "Lists the codes of dead letters, or a vendor's codes with the worker's responses.",
        discussion: .help(
            examples: """
                remint codes
                remint codes braze
                """))

    @Argument(
        help: "The vendor: the name of its adapter or the path of its file. Default: list the codes of dead letters.")
    var vendor: String?

    func run() throws {
        guard let vendor else {
            for row in ErrorCode.table { Terminal.print(row) }
            return
        }
        let declared = VendorFile.isPath(vendor) ? try VendorFile(vendor).loaded() : DeclaredVendor.shipped(vendor)
        let rows = try declared.map { CodesTable($0.description).rows } ?? compiled(vendor)
        for row in CodesTable.head + rows { Terminal.print(row) }
    }

    /// Returns the rows of a compiled adapter.
    private func compiled(_ vendor: String) throws -> [String] {
        guard let registration = AdapterRegistry.remint[vendor] else {
            throw ValidationError(AdapterRegistry.remint.error(without: vendor, shown: vendor))
        }
        guard !registration.codes.isEmpty else {
            throw ValidationError("the adapter \(vendor) lists no codes; add them to its `codes`")
        }
        return registration.codes.map(\.row)
    }
}

/// `remint metrics`: the metrics of worker and gateway.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Lists the metrics with their kinds, labels and meanings.",
        discussion: .help(
            examples: """
                remint metrics
                remint metrics | grep remint_tokens
                """))

    func run() {
        // Worker and gateway share some.
        for row in Set(MetricsCatalogue.table + PickupMetricsCatalogue.table).sorted() { Terminal.print(row) }
    }
}
