import AdapterKit
import ArgumentParser
import DeclaredAdapters
import DeclaredTesting
import Formats
import Foundation
import JOSE
import YAMLReading

/// `remint adapter`: vendors that are files.
struct AdapterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapter", abstract: "Creates, tests, checks and documents vendor files.",
        discussion: .help(
            "Each finding about a file is a line: file:line:column: severity: message.",
            examples: """
                remint adapter new our-vendor
                remint adapter test our-vendor.yaml
                """),
        subcommands: [AdapterNew.self, AdapterTest.self, AdapterLint.self, AdapterDocs.self, AdapterSchema.self])
}

/// `remint adapter test`.
struct AdapterTest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Runs the tests in the vendor file, and the tests that every adapter must pass.",
        discussion: .help(
            "The exit code is 1 if a test fails.",
            examples: """
                remint adapter test vendor.yaml
                remint adapter test vendors/one.yaml vendors/two.yaml
                """))

    @Argument(help: ArgumentHelp("The vendor files. The command tests one file after the other.", valueName: "file"))
    var files: [String]

    func run() throws {
        var areGood = true
        for file in files {
            let (vendor, diagnostics) = try VendorFile(file).read()
            guard let vendor else {
                diagnostics.printInOrder()
                areGood = false
                continue
            }
            let outcome = FileTestRun(vendor, file: file).outcome()
            let failures = outcome.failures
            (diagnostics + outcome.warnings + failures).printInOrder()
            Terminal.print(
                failures.isEmpty
                    ? "\(file): ok: \(outcome.count.of("test"))"
                    : "\(file): \(failures.count.of("failure")) in \(outcome.count.of("test"))")
            areGood = areGood && failures.isEmpty
        }
        if !areGood { throw ExitCode.failure }
    }
}

/// `remint adapter lint`.
struct AdapterLint: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Reports every error in the vendor file, with its position.",
        discussion: .help(
            "The exit code is 1 if a file cannot be used.",
            examples: """
                remint adapter lint vendor.yaml
                remint adapter lint vendors/one.yaml vendors/two.yaml
                """))

    @Argument(help: ArgumentHelp("The vendor files.", valueName: "file")) var files: [String]

    func run() throws {
        var areGood = true
        for file in files {
            let (vendor, diagnostics) = try VendorFile(file).read()
            diagnostics.printInOrder()
            let warnings = diagnostics.count { $0.severity == .warning }
            if vendor != nil { Terminal.print("\(file): ok\(warnings > 0 ? ", \(warnings.of("warning"))" : "")") }
            areGood = areGood && vendor != nil
        }
        if !areGood { throw ExitCode.failure }
    }
}

extension [Diagnostic] {
    /// Prints the diagnostics on standard output, in the order of their places. They are the result of a check, and stay in order
    /// with the line about the whole file.
    fileprivate func printInOrder() {
        let ordered = enumerated().sorted { left, right in
            (left.element.place.line, left.element.place.column, left.offset)
                < (right.element.place.line, right.element.place.column, right.offset)
        }
        for (_, diagnostic) in ordered { Terminal.print("\(diagnostic)") }
    }
}

/// `remint adapter docs`.
struct AdapterDocs: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docs", abstract: "Prints the vendor file as a page, in Markdown.",
        discussion: .help(
            examples: """
                remint adapter docs vendor.yaml
                remint adapter docs vendor.yaml > vendor.md
                """))

    @Argument(help: ArgumentHelp("The vendor file.", valueName: "file")) var file: String

    func run() throws {
        Terminal.print(String(DocsPage(try VendorFile(file).loaded().description).text.dropLast()))
    }
}

/// `remint adapter schema`.
struct AdapterSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the JSON Schema of vendor files, for editors.",
        discussion: .help(
            examples: """
                remint adapter schema
                remint adapter schema > vendor.schema.json
                """))

    func run() { Terminal.print(String(FileSchema.text.dropLast())) }
}

/// `remint adapter new`.
struct AdapterNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Writes a vendor file for you to fill in.",
        discussion: .help(
            """
            The command writes the file NAME.yaml in the current folder, and overwrites no existing file. The new file
            passes remint adapter lint. remint adapter test names each value that you must still fill in.
            """,
            examples: """
                remint adapter new our-vendor
                remint adapter new acme-chat --algorithm ES256
                """))

    @Argument(help: ArgumentHelp("The vendor's name, in lowercase letters, digits and hyphens.", valueName: "name"))
    var name: String

    @Option(
        help: ArgumentHelp(
            """
            The algorithm of the tokens. Default: HS256. For a key pair, the command writes a new key for the tests \
            into the file.
            """, valueName: "ES256"))
    var algorithm: Algorithm?

    func run() throws {
        guard let skeleton = try FileSkeleton(name: name, algorithm: algorithm ?? .hs256) else {
            throw ValidationError(
                "\(name) is no vendor's name; write small letters, digits and hyphens, such as our-vendor")
        }
        let file = "\(name).yaml"
        do { try Data(skeleton.text.utf8).write(to: URL(filePath: file), options: .withoutOverwriting) } catch {
            let exists = FileManager.default.fileExists(atPath: file)
            throw ValidationError(
                exists
                    ? "\(file) exists and is not overwritten; choose another name, or remove the file"
                    : "\(file) cannot be written in this folder; change to one that you may write")
        }
        Terminal.print(
            """
            wrote \(file)
            Replace each value that begins with \(FileSkeleton.mark). Then:
              remint adapter lint \(file)    reports every error
              remint adapter test \(file)    runs the tests in the file
              remint adapter docs \(file)    prints the file as a page
            Configure it: adapter: ./\(file) under apps.NAME
            """)
    }
}
