import CommandTestSupport
import Foundation
import Kafka
import Logging
import ProgramTestSupport
import Testing

/// Commands that other commands print: each of them runs as it is printed.
@Suite(.timeLimit(.minutes(5))) struct PrintedCommandTests {
    /// A shop with a configuration whose path has a space.
    private final class Lab {
        let folder: TemporaryFolder
        private(set) var printed: [String] = []
        private var made: Set<String> = []

        /// - Parameter brokers: the configured brokers; `embedded` for none that has an address.
        init(brokers: String = "embedded") async throws {
            folder = try TemporaryFolder()
            try await DemoFolder.copy(to: folder.url.appending(path: "my shop"))
            try replace("bootstrap_servers: embedded", with: "bootstrap_servers: \(brokers)", in: "remint.yaml")
            // An id from before ids were names.
            let listing = "keys/braze-ios/keyring.json"
            try replace(#""id":"\#(DemoFolder.version)""#, with: #""id":"prod key; 1""#, in: listing)
        }

        private func replace(_ passage: String, with other: String, in path: String) throws {
            let file = folder.url.appending(path: "my shop/\(path)")
            let text = try String(contentsOf: file, encoding: .utf8)
            try #require(text.contains(passage))
            try Data(text.replacing(passage, with: other).utf8).write(to: file)
        }

        /// Runs a line as a shell does, and notes the commands that it prints.
        func shell(_ line: String) async throws -> Command {
            let program = try await Command.shell(line, in: folder.url)
            let text = program.outputText + "\n" + program.errorText
            let command =
                /remint (?:rotate|keys|reissue|ledger|status|topics|apps) ?(?:(?:[^\s,;:()']|:\d|'[^']*')+ ?)*/
            printed += text.matches(of: command).map {
                var words = String($0.output).trimmingCharacters(in: .whitespaces)
                if words.hasSuffix(".") { words.removeLast() }
                return words
            }
            return program
        }

        func remint(_ line: String) async throws -> Command {
            try await shell("remint \(line) --config 'my shop/remint.yaml'")
        }

        /// Runs every printed command that was not run before, and those that they print.
        func runPrinted() async throws {
            while let command = printed.first(where: { !made.contains($0) }) {
                made.insert(command)
                // Whatever the ring's state makes of it, it is a complete command.
                let program = try await shell(command)
                #expect(![2, 64, 127].contains(program.status), "\(command): \(program.errorText)")
            }
        }
    }

    /// Returns a broker in this process with `topics`.
    private static func broker(_ topics: String...) async throws -> EmbeddedBroker {
        let broker = try EmbeddedBroker(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        for topic in topics { try await broker.createTopic("remint.\(topic)", partitions: 1) }
        return broker
    }

    @Test func `every command that a campaign prints runs as printed`() async throws {
        let broker = try await Self.broker(
            "invalidations", "invalidations.bulk", "tokens", "dead-letters", "control", "retries.10s", "retries.1m",
            "retries.10m")
        let lab = try await Lab(brokers: broker.bootstrapServers)
        let key = "--key braze-ios"
        let steps = [
            "rotate status \(key)", "rotate promote \(key)", "keys generate \(key) --id n",
            "rotate prepare \(key) --key-version n", "rotate promote \(key)", "rotate retire \(key)",
            "rotate reissue \(key)", "rotate promote \(key) --key-version n", "rotate promote \(key) --now",
            "rotate retire \(key) --key-version 'prod key; 1'", "keys remove \(key) 'prod key; 1'",
            "rotate pause \(key)", "rotate reissue \(key)", "rotate resume \(key)", "rotate prepare \(key)",
            "rotate abort \(key)",
            "rotate prepare \(key) --key-version n",
        ]
        for step in steps { _ = try await lab.remint(step) }
        #expect(lab.printed.contains { $0.contains("'prod key; 1'") }, "\(lab.printed)")
        for command in lab.printed {
            #expect(command.hasSuffix("--config 'my shop/remint.yaml'"), "\(command)")
            #expect(command.contains(" --key braze-ios"), "\(command)")
        }
        try await lab.runPrinted()
        #expect(Set(lab.printed).count > 8, "\(lab.printed)")
        await broker.close()
    }

    @Test func `every printed command has the brokers that only the operator named`() async throws {
        // A broker that lacks the input topics: the number of events that wait there is unknown.
        let broker = try await Self.broker()
        let lab = try await Lab()
        let key = "--key braze-ios", brokers = "--brokers \(broker.bootstrapServers)"
        let steps = [
            "rotate prepare \(key)", "rotate promote \(key) --now", "rotate status \(key) \(brokers)",
            "rotate retire \(key) \(brokers)", "rotate retire \(key) --key-version 'prod key; 1' \(brokers)",
            "rotate revoke \(key) --key-version 'prod key; 1' --no-reissue \(brokers)",
            "rotate reissue \(key) \(brokers)",
        ]
        for step in steps {
            let before = lab.printed.count
            _ = try await lab.remint(step)
            guard step.hasSuffix(brokers) else { continue }
            for command in lab.printed[before...] where !command.hasPrefix("remint rotate promote") {
                // A sentence may follow the command.
                #expect(command.contains(" \(brokers)"), "\(step): \(command)")
            }
        }
        #expect(lab.printed.contains { $0.hasPrefix("remint rotate reissue") && $0.hasSuffix(brokers) })
        await broker.close()
    }

    @Test func `a size that is refused begins no campaign`() async throws {
        let lab = try await Lab()
        for bits in ["1024", "16384"] {
            let refused = try await lab.remint("rotate prepare --key braze-ios --rsa-bits \(bits)")
            #expect(refused.status == 2 && refused.errorText.contains("2048, 3072 or 4096"), "\(refused.errorText)")
        }
        let campaign = lab.folder.url.appending(path: "my shop/keys/braze-ios/rotation.json")
        #expect(!FileManager.default.fileExists(atPath: campaign.path))
    }

    @Test func `a revocation that cannot be written reports that the version still signs, and the next command`()
        async throws
    {
        let command = "rotate revoke --key-version"
        let lab = try await Lab()
        // The audit line that precedes the change cannot be written, as on a full disk.
        let log = lab.folder.url.appending(path: "my shop/keys/braze-ios/audit.log")
        try FileManager.default.removeItem(at: log)
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: false)
        _ = try await lab.remint("keys generate --key braze-ios --id n")
        let failed = try await lab.remint("\(command) 'prod key; 1' --key braze-ios")
        #expect(failed.status == 1, "\(failed.outputText)")
        for words in [
            "prod key; 1 is not revoked and still signs", "an unknown number of live tokens",
            "then: remint \(command) 'prod key; 1' --key braze-ios --config 'my shop/remint.yaml'",
        ] {
            #expect(failed.errorText.contains(words), "\(failed.errorText)")
        }
    }

    /// A command in a string would lack the ring, the configuration and the quotes.
    @Test func `commands in messages are made by RemintCommand`() throws {
        let folders =
            ["Rules/Keyring", "Services/Operations"]
            + ["Keys", "Rotate", "Reissue"].map { "Programs/Remint/Commands/\($0)" }
        var found: [String] = []
        for folder in folders {
            let files = Repository.files(under: "Sources/\(folder)", ending: "swift")
            #expect(!files.isEmpty, "\(folder)")
            for file in files {
                var isText = false
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                    if line.contains(#"""""#) { isText.toggle() }
                    let isHelp = isText || line.contains(/^ *\/\/|abstract:|help:|discussion:/)
                    guard !isHelp, line.contains(/".*remint (?:rotate|keys|reissue|ledger) [a-z-]/) else {
                        continue
                    }
                    found.append("\(file.lastPathComponent): \(line)")
                }
            }
        }
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }
}
