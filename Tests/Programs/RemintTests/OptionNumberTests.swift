import AsyncTestSupport
import CommandKit
import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

@testable import remint_bench

/// Numbers and durations of all options of both programs: one that means nothing is a wrong use of the command, and no
/// crash of it.
///
/// In a long run, every option meets every wrong value. Otherwise an option meets two of them, and the next option
/// the next two.
@Suite(.timeLimit(.minutes(5))) struct OptionNumberTests {
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
        try await DemoFolder.copy(to: folder.url.appending(path: "shop"))
        let configuration = folder.url.appending(path: "shop/remint.yaml").path
        let tried = try await refusals { command, options in
            var more: [String] = []
            if command == ["reissue"] { more += ["--ledger", "--dry-run"] }
            if ["keys", "rotate"].contains(command.first) { more += ["--key", "braze-ios"] }
            if options.contains("config") { more += ["--config", configuration] }
            if options.contains("brokers") { more += ["--brokers", "127.0.0.1:1"] }
            return more
        } run: {
            try await Command.remint($0)
        }
        #expect(tried > 100)
    }

    @Test func `an option of remint-bench without a countable value is refused as a wrong use`() async throws {
        let tried = try await refusals { _, _ in
            []
        } run: { arguments in
            try await Command.run(arguments) { context in
                await CommandContext.$current.withValue(context) { await RemintBench.exitCode() }
            }
        }
        #expect(tried > 20)
    }

    /// Gives every number of a program each value that is none, expects a refusal, and returns the number of tries.
    ///
    /// - Parameters:
    ///   - more: returns the arguments that a command needs beside its required ones.
    ///   - run: runs the program.
    private func refusals(
        more: (_ command: [String], _ options: [String]) -> [String], run: ([String]) async throws -> Command
    ) async throws -> Int {
        let dump = try await run(["--experimental-dump-help"])
        let root = try #require(try JSONSerialization.jsonObject(with: dump.standardOutput) as? [String: Any])
        var tried = 0
        for (command, options, needed) in Self.commands(root["command"] as? [String: Any] ?? [:], []) {
            for option in options {
                #expect(
                    Self.numbers.contains(option) != Self.texts.contains(option),
                    "\(command): --\(option) is in none of the lists, or in both")
                guard Self.numbers.contains(option) else { continue }
                // A rate within these bounds can be counted.
                let all = option == "rate" ? Self.wrong + ["1e20", "1e-300", "inf", "1000001"] : Self.wrong
                let values = Scale.isLong ? all : [tried, tried + 1].map { all[$0 % all.count] }
                for value in values {
                    let arguments = command + needed + ["--\(option)=\(value)"] + more(command, options)
                    let program = try await run(arguments)
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
