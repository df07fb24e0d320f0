import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// The help pages of all commands, and the answers to a misspelled command line.
@Suite(.timeLimit(.minutes(5))) struct HelpTests {
    /// A command as the program describes it to tools.
    private struct HelpPage: Sendable {
        let words: [String]
        let options: Set<String>
        let needed: Set<String>
    }

    @Test(arguments: [80, 200]) func `a help page has no ragged line and two examples that work`(
        _ width: Int
    ) async throws {
        let commands = try await Self.commands.value
        #expect(commands.count > 50)
        for command in commands {
            let help = try await Command.remint(command.words + ["--help"], environment: ["COLUMNS": String(width)])
            #expect(help.status == 0)
            let lines = help.outputText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            for line in Self.ragged(lines, width) { Issue.record("\(command.words) at \(width): \(line)") }
            let overview = lines.prefix { !$0.hasPrefix("USAGE:") }
            let examples = overview.drop { $0 != "Examples:" }.filter { $0.hasPrefix("  remint ") }
            #expect(examples.count == 2, "\(command.words)")
            for example in examples {
                #expect(Self.problem(of: example, commands) == nil, "\(command.words): \(example)")
            }
        }
    }

    @Test func `the help groups all commands by their purpose`() async throws {
        let lines = try await Command.remint(["--help"]).outputText.split(separator: "\n")
        let listed = lines.drop { !$0.hasSuffix("SUBCOMMANDS:") }
        #expect(
            listed.filter { $0.hasSuffix("SUBCOMMANDS:") }.map { $0.dropLast(" SUBCOMMANDS:".count) }
                == ["SERVICES", "SETUP", "KEYS", "OPERATION", "INSPECTION"])
        let names = listed.compactMap { $0.firstMatch(of: #/^  ([a-z-]+) /#).map { String($0.1) } }
        let commands = try await Self.commands.value.map(\.words).filter { $0.count == 1 }.flatMap(\.self)
        #expect(names == commands)
    }

    @Test(arguments: [
        (["rnu"], "Unknown command 'rnu'. Did you mean 'run'?", "remint <subcommand>"),
        (["help", "rnu"], "Unknown command 'rnu'. Did you mean 'run'?", "remint <subcommand>"),
        (["xylophone"], "Unknown command 'xylophone'\n", "remint <subcommand>"),
        (["dead-letters", "lst"], "Did you mean 'list'?", "remint dead-letters <subcommand>"),
        (["apps", "pasue"], "Did you mean 'pause'?", "remint apps <subcommand>"),
        (["check", "--confg", "x"], "Unknown option '--confg'. Did you mean '--config'?", "remint check ["),
        (["apps", "--confg", "x"], "Unknown option '--confg'. Did you mean '--config'?", "remint apps list"),
        (["reissue", "--config=x", "--ledgr"], "Did you mean '--ledger'?", "remint reissue "),
        (["rotate", "prepare", "--version", "3", "-c", "x"], "'--key-version'", "remint rotate prepare [--config"),
        (["rotate", "revoke", "--version", "3", "-c", "x"], "'--key-version'", "remint rotate revoke "),
        (["codes", "brase"], "no adapter is called brase; did you mean braze?", "remint codes ["),
        (["adapter", "lint", "none.yaml"], "none.yaml", "remint adapter lint "),
        (["reissue", "-c", "x"], "give either --input or --ledger", "remint reissue "),
    ])
    func `a wrong use is refused with the near word and the usage of its command`(
        _ arguments: [String], _ words: String, _ usage: String
    ) async throws {
        let program = try await Command.remint(arguments)
        #expect(program.status == 2)
        #expect(program.errorText.contains(words), "\(program.errorText)")
        #expect(program.errorText.contains("\nUsage: \(usage)"), "\(program.errorText)")
        #expect(program.errorText.contains(" --help' for more information"), "\(program.errorText)")
    }

    /// Returns the lines whose next word had fit in, and those that are too long.
    private static func ragged(_ lines: [String], _ width: Int) -> [String] {
        zip(lines, lines.dropFirst()).compactMap { line, next in
            if line.count > width { return line }
            let indent = next.prefix { $0 == " " }.count
            guard !line.isEmpty, !next.isEmpty, !line.hasSuffix(":"), !next.hasPrefix("USAGE:") else { return nil }
            switch indent {
            // A line that is kept as it is, such as an example, was broken.
            case 0: if line.hasPrefix(" ") { return line }
            // A usage breaks between two options, or before an argument.
            case 7:
                let isCut = next.hasPrefix("       ...") || next.hasPrefix("       <") && !line.hasSuffix("]")
                return isCut ? "\(line)⏎\(next)" : nil
            // Descriptions begin at this column, and on a line of their own where the name is long.
            case 26: guard line.dropFirst(2).contains("  ") || line.hasPrefix("   ") else { return nil }
            default: return nil
            }
            let word = next.drop { $0 == " " }.prefix { $0 != " " }
            return line.count + 1 + word.count < width ? "\(line)⏎\(word)" : nil
        }
    }

    /// Returns the reason why `example` would be refused; nil if it would run.
    private static func problem(of example: String, _ commands: [HelpPage]) -> String? {
        guard example.count <= 78 else { return "more than 78 columns" }
        let words = example.split(separator: " ").dropFirst().map(String.init).prefix {
            !["|", ">", "<"].contains($0)
        }
        let reached = commands.filter { words.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
        guard let reached else { return "no command" }
        let given = Set(words.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) })
        if let name = given.subtracting(reached.options).first { return "no option \(name)" }
        return reached.needed.subtracting(given).first.map { "lacks \($0)" }
    }

    /// All commands, read once for all tests.
    private static let commands = Task {
        let dump = try await Command.remint(["--experimental-dump-help"])
        let root = try #require(try JSONSerialization.jsonObject(with: dump.standardOutput) as? [String: Any])
        return pages(root["command"] as? [String: Any] ?? [:], [])
    }

    private static func pages(_ command: [String: Any], _ above: [String]) -> [HelpPage] {
        let arguments = command["arguments"] as? [[String: Any]] ?? []
        let named = arguments.filter { $0["kind"] as? String != "positional" }
        func name(_ argument: [String: Any]) -> String? {
            (argument["preferredName"] as? [String: Any])?["name"] as? String
        }
        let below = (command["subcommands"] as? [[String: Any]] ?? []).filter {
            $0["commandName"] as? String != "help"
        }
        let standard = below.first { $0["commandName"] as? String == command["defaultSubcommand"] as? String }
        let inherited = standard.map { pages($0, above).first } ?? nil
        let own = HelpPage(
            words: above,
            options: Set(named.compactMap(name)).union(inherited?.options ?? []),
            needed: Set(named.filter { $0["isOptional"] as? Bool == false }.compactMap(name)))
        return [own] + below.flatMap { pages($0, above + [$0["commandName"] as? String ?? ""]) }
    }
}
