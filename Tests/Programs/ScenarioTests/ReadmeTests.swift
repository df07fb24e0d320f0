import AdapterKit
import Foundation
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Tests of the commands in README.md.
    @Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
        @Test func `README.md's minute by hand works as written`() async throws {
            let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
            let blocks = readme.split(separator: "```sh\n").dropFirst().compactMap {
                $0.split(separator: "```", omittingEmptySubsequences: false).first
            }
            try #require(blocks.count == 1, "the test knows one block of commands")
            let folder = try TemporaryFolder()
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            // Job control makes the background worker known as %1, as in a terminal; it goes with the shell, whatever fails.
            let script = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + blocks[0]
            let shell = try await Program.run(
                "bash", ["-m", "-e", "-o", "pipefail", "-c", script], directory: folder.url,
                environment: ["PATH": "\(Repository.products.path):\(path)"])
            #expect(shell.status == 0, "\(shell.outputText)\n\(shell.errorText)")
            #expect(shell.outputText.contains("Braze says: accepted"))
            #expect(shell.outputText.contains("\"accepted\":true"))
            #expect(shell.outputText.contains("sent "))
        }

        /// The pages that people read, by their places in the repository.
        private static let pages =
            ["Sources", "Tests", "adapters", "config", ".github"].flatMap { folder in
                Repository.files(under: folder, ending: "md").map {
                    String($0.path.dropFirst(Repository.root.path.count + 1))
                }
            }.filter {
                !$0.contains(".docc/") && !$0.contains("/Fixtures/") && !$0.contains("/.") || $0.hasPrefix(".github")
            } + ["README.md"]

        private func text(_ page: String) throws -> String {
            try String(contentsOf: Repository.root.appending(path: page), encoding: .utf8)
        }

        @Test(arguments: pages) func `every file a page links to is there`(_ page: String) throws {
            let folder = Repository.root.appending(path: page).deletingLastPathComponent()
            for match in try text(page).matches(of: /\]\(([^)#:]+)\)/) {
                let target = folder.appending(path: String(match.1))
                #expect(FileManager.default.fileExists(atPath: target.path), "\(page) links to \(match.1)")
            }
        }

        @Test(arguments: ["README.md", "config/GUARANTEES.md", "config/THREATS.md"])
        func `every suite of tests that a page names exists`(_ page: String) throws {
            let files = ["Tests", "adapters"].flatMap { Repository.files(under: $0, ending: "swift") }
            let sources = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
            let names = Set(try text(page).matches(of: /`([A-Za-z0-9]+Tests)`/).map { String($0.1) })
            #expect(names.count > 10)
            for name in names {
                #expect(sources.contains("struct \(name)") || sources.contains("class \(name)"), "\(name)")
            }
        }

        @Test func `every target README.md names is in the Makefile`() throws {
            let makefile = try text("Makefile")
            for match in try text("README.md").matches(of: /`make ([a-z-]+)`/) {
                #expect(makefile.contains("\n\(match.1):"), "make \(match.1)")
            }
        }

        @Test func `README.md is read in one go`() throws {
            #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        }

        // MARK: Tables

        /// The names in the first column of the tables of `page` that look like `pattern`.
        private func firstColumn(of page: String, _ pattern: Regex<(Substring, Substring)>) throws -> Set<String> {
            let rows = try text(page).split(separator: "\n").filter { $0.hasPrefix("| `") }
            let cells = rows.map { $0.replacing("\\|", with: "/").split(separator: "|")[0] }
            return Set(cells.flatMap { $0.matches(of: pattern).map { String($0.1) } })
        }

        /// The rows of `page` whose first cell begins with `start`.
        private func rows(of page: String, from start: String) throws -> [String] {
            try text(page).split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `\(start)") }
        }

        @Test func `the table of codes is the one that remint codes prints`() throws {
            let codes = Set(ErrorCode.allCases.map { "| `\($0.rawValue)` " })
            let written = try rows(of: "Sources/Rules/Pipeline/README.md", from: "").filter { row in
                codes.contains { row.hasPrefix($0) }
            }
            #expect(written == ErrorCode.table, "replace it with the output of: remint codes")
        }

        @Test func `the table of metrics is the one that remint metrics prints`() async throws {
            let printed = try await Command.remint(["metrics"]).outputText
            let table = printed.split(separator: "\n").map(String.init)
            #expect(table.count > 30)
            let written = try ["process_", "remint_"].flatMap { try rows(of: "config/OPERATION.md", from: $0) }
            #expect(
                written == table,
                "replace it with the output of: remint metrics")
        }

        @Test(arguments: [("remint", "config/OPERATION.md", 30), ("remint-bench", "Tests/Benchmarks/README.md", 4)])
        func `the table of a program's commands has every command and no other`(
            _ name: String, _ page: String, _ least: Int
        ) async throws {
            let ask = ["--experimental-dump-help"]
            let dump =
                name == "remint"
                ? try await Command.remint(ask).standardOutput
                : try await Program.run(Repository.bench, ask).standardOutput
            let root = try JSONSerialization.jsonObject(with: dump) as? [String: Any]
            let commands = leaves(try #require(root?["command"] as? [String: Any]), "")
            #expect(commands.count > least)
            var written: Set<String> = []
            for cell in try firstColumn(of: page, /`(remint(?:-bench)? [^`]+)`/) where cell.hasPrefix("\(name) ") {
                let words = cell.split(separator: " ").dropFirst().prefix { !$0.hasPrefix("-") && !$0.hasPrefix("(") }
                    .filter { $0.allSatisfy { $0.isLowercase || $0 == "-" || $0 == "/" } }
                let last = words.last.map { $0.split(separator: "/") } ?? []
                for word in last { written.insert((words.dropLast() + [word]).joined(separator: " ")) }
            }
            #expect(written == commands)
        }

        /// The commands that have none below them, as one types them.
        private func leaves(_ command: [String: Any], _ path: String) -> Set<String> {
            let below = (command["subcommands"] as? [[String: Any]] ?? []).filter {
                $0["commandName"] as? String != "help"
            }
            guard !below.isEmpty else { return [path] }
            return below.reduce(into: []) { found, command in
                let name = command["commandName"] as? String ?? ""
                found.formUnion(leaves(command, path.isEmpty ? name : "\(path) \(name)"))
            }
        }
    }
}
