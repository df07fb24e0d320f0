import ArgumentParser
import DeclaredAdapters
import DeclaredTesting
import Formats
import YAMLReading

/// `remint adapter`: vendors that are files.
struct AdapterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapter", abstract: "Tests, checks and documents a vendor's file.",
        discussion: .help(
            "Each line about a file is file:line:column: severity: message.",
            examples: """
                remint adapter lint vendor.yaml
                remint adapter test vendor.yaml
                """),
        subcommands: [AdapterTest.self, AdapterLint.self, AdapterDocs.self, AdapterSchema.self])
}

/// `remint adapter test`.
struct AdapterTest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Runs the tests in the file, and what every adapter must promise.",
        discussion: .help(
            "Exit code 1 if a test fails.",
            examples: """
                remint adapter test vendor.yaml
                remint adapter test vendors/one.yaml vendors/two.yaml
                """))

    @Argument(help: ArgumentHelp("The vendor's file; several are tested one after the other.", valueName: "file"))
    var files: [String]

    func run() throws {
        var areGood = true
        for file in files {
            let (vendor, diagnostics) = try VendorFile(file).read()
            for diagnostic in diagnostics { Terminal.error("\(diagnostic)") }
            guard let vendor else {
                areGood = false
                continue
            }
            let run = FileTestRun(vendor, file: file)
            let failures = run.failures()
            for failure in failures { Terminal.error("\(failure)") }
            if failures.isEmpty { Terminal.print("\(file): ok: \(run.count.of("test"))") }
            areGood = areGood && failures.isEmpty
        }
        if !areGood { throw ExitCode.failure }
    }
}

/// `remint adapter lint`.
struct AdapterLint: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Reports every error in the file, with its position.",
        discussion: .help(
            "Exit code 1 where it cannot be used.",
            examples: """
                remint adapter lint vendor.yaml
                remint adapter lint vendors/one.yaml vendors/two.yaml
                """))

    @Argument(help: ArgumentHelp("The vendor's file.", valueName: "file")) var files: [String]

    func run() throws {
        var areGood = true
        for file in files {
            let (vendor, diagnostics) = try VendorFile(file).read()
            for diagnostic in diagnostics { Terminal.error("\(diagnostic)") }
            if vendor != nil { Terminal.print("\(file): ok") }
            areGood = areGood && vendor != nil
        }
        if !areGood { throw ExitCode.failure }
    }
}

/// `remint adapter docs`.
struct AdapterDocs: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docs", abstract: "Prints the file as a page, in Markdown.",
        discussion: .help(
            examples: """
                remint adapter docs vendor.yaml
                remint adapter docs vendor.yaml > vendor.md
                """))

    @Argument(help: ArgumentHelp("The vendor's file.", valueName: "file")) var file: String

    func run() throws {
        Terminal.print(String(DocsPage(try VendorFile(file).loaded().description).text.dropLast()))
    }
}

/// `remint adapter schema`.
struct AdapterSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the JSON Schema of vendors' files, for editors.",
        discussion: .help(
            examples: """
                remint adapter schema
                remint adapter schema > vendor.schema.json
                """))

    func run() { Terminal.print(String(FileSchema.text.dropLast())) }
}
