import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// `remint check` and `remint config`, as a person meets them.
@Suite(.timeLimit(.minutes(5))) struct CheckTests {
    private struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let from: String
        let to: String
        /// The required text of the line, after the file's name.
        let expected: String
    }

    private static let mistakes = [
        Mistake(
            testDescription: "an unknown key", from: "log:", to: "logg: 1\nlog:",
            expected: ":5:1: error: unknown key logg; did you mean log?"),
        Mistake(
            testDescription: "a misspelt setting", from: "application_code", to: "aplication_code",
            expected: "did you mean application_code?"),
        Mistake(
            testDescription: "a missing key ring", from: "path: keys/braze-ios ", to: "path: keys/nowhere ",
            expected: "Create the ring: remint keys generate --key braze-ios --config "),
        Mistake(
            testDescription: "a key of the wrong kind", from: "path: keys/braze-ios ",
            to: "path: keys/another-kind ",
            expected: "is for ES256, and Braze takes RS256 alone"),
        Mistake(
            testDescription: "two rings with one folder", from: "path: keys/braze-ios ",
            to: "path: keys/onesignal-shop ",
            expected: "keys.onesignal-shop has the folder of keys.braze-ios"),
        Mistake(
            testDescription: "an unknown adapter", from: "adapter: braze", to: "adapter: brase",
            expected: "no adapter is called brase; did you mean braze?"),
        Mistake(
            testDescription: "a promise that cannot be kept", from: "log:", to: "delivery: exactly_once\nlog:",
            expected: "error: the embedded broker keeps no transactions"),
    ]

    @Test func `check points at the mistake`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url.appending(path: "shop")
        try await DemoFolder.copy(to: folder)
        try FileManager.default.copyItem(
            at: folder.appending(path: "keys/onesignal-shop"), to: folder.appending(path: "keys/another-kind"))
        let file = folder.appending(path: "remint.yaml")
        let good = try String(contentsOf: file, encoding: .utf8)
        let check = try await Command.remint(["check", "--config", file.path])
        #expect(check.status == 0, "\(check.errorText)")
        for mistake in Self.mistakes {
            try Data(good.replacing(mistake.from, with: mistake.to, maxReplacements: 1).utf8).write(to: file)
            let program = try await Command.remint(["check", "--config", file.path])
            #expect(program.status == 1, "\(mistake)")
            let lines = program.errorText.split(separator: "\n")
            let line = try #require(lines.first { $0.contains(mistake.expected) }, "\(program.errorText)")
            #expect(line.contains(#/^[^:]+:\d+:\d+: error: /#), "\(line)")
        }
    }

    @Test func `a shipped configuration lacks nothing but its keys`() async throws {
        let files = Repository.files(under: "config", ending: "yaml").filter {
            $0.lastPathComponent == "remint.yaml"
        }
        #expect(files.count == 2)
        // What the containers' one reads from the environment.
        let environment = ["REMINT_PICKUP_HASH": String(repeating: "0", count: 64)]
        for file in files {
            let program = try await Command.remint(["check", "--config", file.path], environment: environment)
            let lines = program.errorText.split(separator: "\n").filter { $0.contains(": error: ") }
            #expect(!lines.isEmpty)
            for line in lines {
                #expect(line.contains("keyring.json cannot be opened"), "\(line)")
                #expect(line.contains("Create the ring: remint keys generate --key "), "\(line)")
            }
        }
    }

    @Test func `the config command shows the effective configuration, and the schema`() async throws {
        let schema = try await Command.remint(["config", "schema"])
        let written = try String(
            contentsOf: Repository.root.appending(path: "config/remint.schema.json"), encoding: .utf8)
        #expect(schema.status == 0 && schema.outputText == written)
        let temporary = try TemporaryFolder()
        let file = temporary.url.appending(path: "remint.yaml")
        let text = """
            kafka: { bootstrap_servers: "${SERVERS}", properties: { sasl.password: hunter2 } }
            keys: { shop: { path: keys/shop } }
            apps: { ios: { adapter: ably, key: shop } }

            """
        try Data(text.utf8).write(to: file)
        let show = ["config", "show", "--config", file.path]
        let shown = try await Command.remint(show, environment: ["SERVERS": "127.0.0.1:9092"])
        #expect(shown.status == 0 && shown.errorText.isEmpty, "\(shown.errorText)")
        #expect(shown.outputText.contains("  bootstrap_servers: 127.0.0.1:9092  # \(file.path):1, environment\n"))
        #expect(shown.outputText.contains("    adapter: ably  # \(file.path):3\n"))
        #expect(shown.outputText.contains("  level: info  # default\n"))
        #expect(!shown.outputText.contains("hunter2"))
        let refused = try await Command.remint(show)
        #expect(refused.status == 1 && refused.outputText.isEmpty)
        #expect(refused.errorText.contains("\(file.path):1:29: error: the environment variable SERVERS is not defined"))
    }

    @Test func `check prints JSON for machines`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url.appending(path: "shop")
        try await DemoFolder.copy(to: folder)
        let program = try await Command.remint(
            ["check", "--json", "--config", folder.appending(path: "remint.yaml").path])
        let report = try #require(try JSONSerialization.jsonObject(with: program.standardOutput) as? [String: Any])
        #expect(report["ok"] as? Bool == true)
    }
}
