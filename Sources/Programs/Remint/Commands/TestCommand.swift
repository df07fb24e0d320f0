import AdapterKit
import ArgumentParser
import Foundation
import Vendors
import WorkerConfiguration
import WorkerTesting
import YAMLReading

/// `remint test`: tests of a configuration.
struct TestCommand: AsyncParsableCommand {
    /// The format of the results.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, junit
    }

    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Runs the tests of a configuration.",
        discussion: .help(
            """
            The tests are in the configuration (under tests:) and in files next to it whose names end in _test.yaml. If
            you name files, the command runs only the tests in these files.

            Each event passes through the worker's own pipeline, with the apps of the configuration. The command asks no
            broker and no vendor. It signs tokens with the key rings on this machine. If a ring is not on this machine,
            the command makes a temporary key of the kind that the vendor accepts. The exit code is 1 if a test fails.
            """,
            examples: """
                remint test --config remint.yaml
                remint test --config remint.yaml --filter braze --format junit
                """))

    @OptionGroup var options: ConfigurationOptions
    @Argument(
        help: ArgumentHelp("Test files, instead of the tests in and next to the configuration.", valueName: "file"))
    var files: [String] = []
    @Option(help: ArgumentHelp("Run only the tests whose names contain this string.", valueName: "text")) var filter:
        String?
    @Option(help: "Format of the results: text, json or junit.") var format = Format.text
    @Flag(help: "Read no key ring, even if it is on this machine. Sign with temporary keys.") var ephemeralKeys = false

    func run() async throws {
        let source = ConfigurationReader.withoutSecrets(.unguarded) { FileManager.default.fileExists(atPath: $0) }
        let reader = ConfigurationReader(registry: .remint, source: source)
        let (configuration, own, diagnostics) = reader.tested(options.config)
        guard let configuration else { return try refuse(diagnostics.all) }
        let found = try tests(beside: own, diagnostics, reader)
        let cases = found.sections.flatMap { TestCaseReader(configuration, source: source).read($0) }
        let mistakes = found.diagnostics.flatMap(\.all)
        guard !mistakes.contains(where: { $0.severity == .error }) else { return try refuse(mistakes) }
        for diagnostic in mistakes { Terminal.error("\(diagnostic)") }
        try await run(try chosen(cases), try rings(configuration), configuration)
    }

    private func run(_ cases: [TestCase], _ rings: TestRings, _ configuration: Configuration) async throws {
        let run = TestRun(configuration, rings)
        var results: [CaseResult] = []
        for test in cases { results.append(await run.run(test)) }
        let report = TestReport(results)
        switch format {
        case .text: Terminal.print(report.text)
        case .json: Terminal.print(report.json)
        case .junit: Terminal.print(report.junit)
        }
        if !report.isOK { throw ExitCode.failure }
    }

    private func refuse(_ diagnostics: [Diagnostic]) throws {
        for diagnostic in diagnostics { Terminal.error("\(diagnostic)") }
        throw ExitCode.failure
    }

    // MARK: What is run

    /// Returns the tests of the named files; without names, those of the configuration and of the files beside it.
    private func tests(
        beside own: Section?, _ diagnostics: Diagnostics, _ reader: ConfigurationReader
    ) throws -> (sections: [Section], diagnostics: [Diagnostics]) {
        let named = files.isEmpty ? neighbours : files
        let read = named.map { reader.tests($0) }
        let sections = (files.isEmpty ? [own] : []) + read.map(\.tests)
        if files.isEmpty, own == nil, read.isEmpty {
            Terminal.error(
                "\(options.config) has no tests; write them under tests:, or into a file beside it whose name ends in _test.yaml"
            )
            throw ExitCode.failure
        }
        return (sections.compactMap { $0 }, [diagnostics] + read.map(\.diagnostics))
    }

    private var neighbours: [String] {
        let folder = options.config.lastIndex(of: "/").map { String(options.config[...$0]) } ?? ""
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
        return (names ?? []).filter { $0.hasSuffix("_test.yaml") }.sorted().map { folder + $0 }
    }

    private func chosen(_ cases: [TestCase]) throws -> [TestCase] {
        guard let filter else { return cases }
        let chosen = cases.filter { $0.name.contains(filter) }
        guard !chosen.isEmpty else { throw ValidationError("no test's name holds \(filter)") }
        return chosen
    }

    private func rings(_ configuration: Configuration) throws -> TestRings {
        let rings = try TestRings(configuration, ephemeral: ephemeralKeys)
        if !rings.diagnostics.isEmpty { try refuse(rings.diagnostics) }
        if !rings.made.isEmpty {
            Terminal.error("keys made for this run, and forgotten: \(rings.made.joined(separator: ", "))")
        }
        return rings
    }
}
