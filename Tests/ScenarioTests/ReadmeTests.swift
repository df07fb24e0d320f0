import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// What README.md tells people to type.
    @Suite(.timeLimit(.minutes(2))) struct ReadmeTests {
        @Test func `the minute by hand does what it says`() async throws {
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

        @Test func `every file README.md links to is there`() throws {
            for name in ["README.md", "Sources/README.md", "Tests/README.md", "adapters/README.md", "config/README.md"]
            {
                let file = Repository.root.appending(path: name)
                let text = try String(contentsOf: file, encoding: .utf8)
                for match in text.matches(of: /\]\(([^)#:]+)\)/) {
                    let target = file.deletingLastPathComponent().appending(path: String(match.1))
                    #expect(FileManager.default.fileExists(atPath: target.path), "\(name) links to \(match.1)")
                }
            }
        }

        @Test func `every target README.md names is in the Makefile`() throws {
            let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
            let makefile = try String(contentsOf: Repository.root.appending(path: "Makefile"), encoding: .utf8)
            for match in readme.matches(of: /`make ([a-z-]+)`/) {
                #expect(makefile.contains("\n\(match.1):"), "make \(match.1)")
            }
        }
    }
}
