import Foundation
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// The pages of `config/tasks`: their commands run, and print what the pages show.
    @Suite(.timeLimit(.minutes(5))) struct TaskPagesTests {
        private static let folder = Repository.root.appending(path: "config/tasks")

        private static let pages = [
            "README.md", "add-an-app.md", "leaked-key.md", "leave-a-vendor.md", "no-tokens.md",
            "put-it-before-your-app.md", "rotate-a-key.md", "sizing.md",
        ]

        /// The text of a page, with ports that are free here in place of its own.
        private func text(_ page: String) throws -> String {
            var text = try String(contentsOf: Self.folder.appending(path: page), encoding: .utf8)
            for port in ["19092", "18080", "19464", "19465"] {
                text = text.replacing(port, with: "\(try Gateway.freePort())")
            }
            return text
        }

        @Test(arguments: pages) func `the commands of a page print what the page shows`(_ name: String) async throws {
            let page = CommandPage(try text(name))
            try #require(!page.steps.isEmpty)
            let folder = try TemporaryFolder()
            // The program under the name that the pages use, wherever it was built.
            let programs = folder.url.appending(path: "programs")
            try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: programs.appending(path: "remint").path, withDestinationPath: Repository.remint)
            let place = folder.url.appending(path: "place")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let shell = try await Program.run(
                "timeout", ["--kill-after=5", "540", "bash", "-m", "-e", "-o", "pipefail", "-c", page.script],
                directory: place, environment: ["PATH": "\(programs.path):\(path)", "REMINT_CONFIG": ""])
            #expect(shell.status == 0, "\(name): \(shell.outputText)\n\(shell.errorText)")
            let parts = page.parts(of: shell.outputText)
            for (step, printed) in zip(page.steps, parts) {
                guard let shown = step.output else { continue }
                let difference = CommandPage.firstDifference(shown: shown, printed: printed)
                #expect(difference == nil, "\(name):\n\(step.commands)printed:\n\(printed)")
            }
            #expect(parts.count == page.steps.count, "\(name)")
        }

        @Test func `the index links to every page of its folder`() throws {
            let index = try text("README.md")
            let files = Repository.files(under: "config/tasks", ending: "md").map(\.lastPathComponent)
            #expect(Set(files) == Set(Self.pages))
            for file in files where file != "README.md" { #expect(index.contains("](\(file))"), "\(file)") }
        }

        @Test(arguments: [
            ("a\nb", "a\nb\n", true), ("a\n…\nd", "a\nb\nc\nd", true), ("…\nd", "d", true), ("a\n…", "a", true),
            ("a … c", "a   b  c", true), ("a…", "abc", true), ("…b…", "abc", true),
            ("a", "a\nb", false), ("a\nb", "a", false), ("a … c", "a b", false), ("…\nd", "a\nb", false),
            ("a…a", "a", false), ("a\nb", "a\nremint: 50 % sent\nb", true),
        ])
        func `a shown output agrees with the printed one up to what it leaves out`(
            _ shown: String, _ printed: String, _ agrees: Bool
        ) {
            #expect((CommandPage.firstDifference(shown: shown, printed: printed) == nil) == agrees)
        }

        @Test func `a page's blocks are its steps, and other blocks are not run`() {
            let page = CommandPage(
                "# Page\n\n```sh\necho a\n```\n\n```text\na\n```\n\n```console\n$ b\n```\n\n```sh\necho c\n```\n")
            #expect(page.steps.map(\.commands) == ["echo a\n", "echo c\n"])
            #expect(page.steps.map(\.output) == ["a\n", nil])
            #expect(page.parts(of: "\n== step 0 ==\na\n\n== step 1 ==\nc\n") == ["a\n", "c\n"])
            #expect(page.parts(of: "\n== step 0 ==\na\n") == ["a\n"])
        }
    }
}
