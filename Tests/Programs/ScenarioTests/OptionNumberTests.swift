import Foundation
import ProgramTestSupport
import Testing

extension CommandScenarios {
    /// Numbers and durations of all options of both programs: one that means nothing is a wrong use of the command, and no
    /// crash of it.
    ///
    /// Four hundred starts of the program, one after the other: ten minutes are too few on a busy machine.
    @Suite(.timeLimit(.minutes(30))) struct OptionNumberTests {
        private static let numbers: Set = [
            "allow-uid", "answer-within", "answered", "apps", "backlog", "canary", "clock-tolerance", "count",
            "devices",
            "events", "expiring-within", "for", "from", "interval", "jitter", "limit", "max-redrives", "max-rejections",
            "memory",
            "newer-than", "older-than", "partitions", "rate", "replication", "retire-after", "returning", "rounds",
            "rsa-bits", "seconds", "subjects", "timeout", "watch", "wave", "wave-rest",
        ]
        private static let texts: Set = [
            "acls", "adapter", "algorithm", "app", "brokers", "by", "challenge", "code", "config", "delimiter",
            "delivery",
            "device", "dir", "encoding", "filter", "format", "group", "id", "import", "input", "jwk", "keep", "key",
            "key-id",
            "key-version", "kid", "letter", "log-level", "origin", "passphrase-file", "pem", "promote", "reason",
            "recipient", "remint",
            "report", "secret", "set", "since", "socket", "stage", "state", "until", "user", "user-column", "vendor",
            "vouched", "worker",
        ]
        private static let wrong = ["nan", "-1", "-5s", "1e400", "99999999999999999999999", "99999999999999999d", ""]

        @Test func `an option of remint without a countable value is refused as a wrong use`() async throws {
            let folder = try TemporaryFolder()
            let demo = try await Program.run(
                Repository.remint, ["demo", "--dir", "shop", "--json"], directory: folder.url)
            try #require(demo.status == 0, "\(demo.errorText)")
            let tried = try await refusals(of: Repository.remint, in: folder) { command, options in
                var more: [String] = []
                if command == ["reissue"] { more += ["--ledger", "--dry-run"] }
                if ["keys", "rotate"].contains(command.first) { more += ["--key", "braze-ios"] }
                if options.contains("config") { more += ["--config", "shop/remint.yaml"] }
                if options.contains("brokers") { more += ["--brokers", "127.0.0.1:1"] }
                return more
            }
            #expect(tried > 200)
        }

        @Test func `an option of remint-bench without a countable value is refused as a wrong use`() async throws {
            let folder = try TemporaryFolder()
            let tried = try await refusals(of: Repository.bench, in: folder) { _, _ in [] }
            #expect(tried > 100)
        }

        /// Gives every number of `executable` each value that is none, expects a refusal, and returns the number of tries.
        ///
        /// - Parameter more: returns the arguments that a command needs beside its required ones.
        private func refusals(
            of executable: String, in folder: borrowing TemporaryFolder,
            more: (_ command: [String], _ options: [String]) -> [String]
        ) async throws -> Int {
            let dump = try await Program.run(executable, ["--experimental-dump-help"])
            let root = try #require(
                try JSONSerialization.jsonObject(with: dump.standardOutput) as? [String: Any])
            var tried = 0
            for (command, options, needed) in Self.commands(root["command"] as? [String: Any] ?? [:], []) {
                for option in options {
                    #expect(
                        Self.numbers.contains(option) != Self.texts.contains(option),
                        "\(command): --\(option) is in none of the lists, or in both")
                    guard Self.numbers.contains(option) else { continue }
                    // A rate within these bounds can be counted.
                    let values =
                        option == "rate" ? Self.wrong + ["1e20", "1e-300", "inf", "1000001"] : Self.wrong
                    for value in values {
                        let arguments = command + needed + ["--\(option)=\(value)"] + more(command, options)
                        let program = try await Program.run(executable, arguments, directory: folder.url)
                        #expect(program.status == 2, "\(arguments): \(program.status) \(program.errorText.suffix(300))")
                        tried += 1
                    }
                }
            }
            return tried
        }

        /// Returns the commands below `command`, each with its options and with the arguments that it cannot do without.
        private static func commands(
            _ command: [String: Any], _ above: [String]
        ) -> [(command: [String], options: [String], needed: [String])] {
            var found: [(command: [String], options: [String], needed: [String])] = []
            var (options, needed) = ([String](), [String]())
            for argument in command["arguments"] as? [[String: Any]] ?? [] {
                let kind = argument["kind"] as? String, isOptional = argument["isOptional"] as? Bool ?? true
                let name = (argument["preferredName"] as? [String: Any])?["name"] as? String ?? ""
                if kind == "option" { options.append(name) }
                if !isOptional, kind == "positional" { needed.append("x") }
                if !isOptional, kind == "option" { needed += ["--\(name)", "x"] }
            }
            if !options.isEmpty { found.append((above, options, needed)) }
            for below in command["subcommands"] as? [[String: Any]] ?? [] {
                guard let name = below["commandName"] as? String, name != "help" else { continue }
                found += commands(below, above + [name])
            }
            return found
        }
    }
}
