import AsyncTestSupport
import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The package in `adapters/Example`: its program, and its manifest beside the repository's.
    @Suite struct ExampleTests {
        private static let folder = Repository.root.appending(path: "adapters/Example")

        private func run(_ arguments: [String], in folder: URL? = nil) async throws -> Program {
            try await Program.run(Repository.example, arguments, directory: folder)
        }

        @Test func `a program with an adapter of its own has every command and every shipped vendor`() async throws {
            let help = try await run(["--help"])
            #expect(help.outputText == (try await Command.remint(["--help"])).outputText)
            let own = try await run(["codes", "example-chat"])
            let row = "| `token_invalid` | `token_invalid` | mint_once | key |"
            #expect(own.outputText.contains(row), "\(own.errorText)")
            for vendor in ["braze", "ably"] {
                let shipped = try await run(["codes", vendor])
                let same = try await Command.remint(["codes", vendor])
                #expect(shipped.status == 0 && shipped.outputText == same.outputText, "\(shipped.errorText)")
            }
            let unknown = try await Command.remint(["codes", "example-chat"])
            #expect(unknown.status == 2 && unknown.errorText.contains("no adapter is called example-chat"))
        }

        @Test func `a configuration may name the program's own adapter`() async throws {
            let folder = try TemporaryFolder()
            let demo = try await run(["demo", "--dir", "shop", "--json"], in: folder.url)
            #expect(demo.status == 0, "\(demo.errorText)")
            let results = try #require(
                try JSONSerialization.jsonObject(with: demo.standardOutput) as? [[String: Any]])
            let own = results.filter { $0["vendor"] as? String == "example-chat" }
            let minted = own.filter { $0["outcome"] as? String == "minted" }
            #expect(Set(minted.compactMap { $0["fixture"] as? String }) == ["expired", "invalid", "missing"])
            #expect(minted.allSatisfy { $0["verdict"] as? String == "accepted" })
            #expect(own.allSatisfy { $0["problem"] == nil })
            let check = try await run(["check", "--config", "shop/remint.yaml"], in: folder.url)
            #expect(check.status == 0, "\(check.errorText)")
            let other = try await Command.remint(
                ["check", "--config", "shop/remint.yaml"], directory: folder.url)
            #expect(
                other.status == 1 && (other.outputText + other.errorText).contains("example-chat"), "\(other.errorText)"
            )
            let schema = try await run(["config", "schema"])
            #expect(schema.outputText.contains("example-chat"))
        }

        /// The example is built and tested as a part of this package; its users build it by its own manifest.
        @Test func `both manifests describe the same targets of the example`() async throws {
            let own = try await Self.targets(of: Self.folder)
            let ours = try await Self.targets(of: Repository.root)
            #expect(Set(own.keys) == ["ExampleChat", "example-remint", "ExampleChatTests"])
            for (name, target) in own {
                let twin = try #require(ours[name], "\(name)")
                #expect(Self.dependencies(of: target) == Self.dependencies(of: twin), "\(name)")
                for key in ["type", "settings", "resources", "exclude"] {
                    let same = (target[key] as? NSObject)?.isEqual(twin[key]) ?? (twin[key] == nil)
                    #expect(same, "\(name): \(key)")
                }
                #expect(target["path"] == nil)
                let isTest = target["type"] as? String == "test"
                #expect(twin["path"] as? String == "adapters/Example/\(isTest ? "Tests" : "Sources")/\(name)")
                // Otherwise the build here would accept what a foreign package cannot see.
                #expect(twin["packageAccess"] as? Bool == false, "\(name)")
            }
        }

        // MARK: The pages of AdapterKit

        private static let pages = Result {
            try Repository.files(under: "Sources/Rules/AdapterKit/AdapterKit.docc", ending: "md").map {
                (name: $0.lastPathComponent, text: try String(contentsOf: $0, encoding: .utf8))
            }
        }

        /// The blocks of code in `language` on the pages, each as its lines without indentation.
        private static func blocks(_ language: String) throws -> [(page: String, lines: [String])] {
            let fence = "```"
            return try pages.get().flatMap { page in
                page.text.split(separator: "\n\(fence)\(language)\n").dropFirst().map { rest in
                    let code = rest.split(separator: "\n\(fence)", maxSplits: 1)[0]
                    return (page: page.name, lines: lines(of: String(code)))
                }
            }
        }

        private static func lines(of text: String) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }

        @Test func `the code on AdapterKit's pages is the example's`() throws {
            let files = try Repository.files(under: "adapters/Example", ending: "swift").map {
                Self.lines(of: try String(contentsOf: $0, encoding: .utf8)).joined(separator: "\n")
            }
            let blocks = try Self.blocks("swift")
            #expect(blocks.count >= 8)
            for block in blocks {
                let code = block.lines.joined(separator: "\n")
                #expect(files.contains { $0.contains(code) }, "\(block.page): \(code)")
            }
        }

        @Test(.enabled(if: Scale.isLong, "a second run of the demonstration; REMINT_TEST_LONG=1"))
        func `the commands on AdapterKit's pages succeed`() async throws {
            let folder = try TemporaryFolder()
            let start = "swift run example-remint "
            var count = 0
            for block in try Self.blocks("shell") {
                for line in block.lines where line.hasPrefix(start) {
                    count += 1
                    let arguments = line.dropFirst(start.count).split(separator: " ").map(String.init)
                    let command = try await run(arguments, in: folder.url)
                    #expect(command.status == 0, "\(line): \(command.errorText)")
                }
            }
            #expect(count >= 3)
        }

        private static func targets(of folder: URL) async throws -> [String: [String: Any]] {
            let manifest = try JSONSerialization.jsonObject(with: try await Manifest.json(of: folder))
            let targets = (manifest as? [String: Any])?["targets"] as? [[String: Any]] ?? []
            return Dictionary(uniqueKeysWithValues: targets.map { ($0["name"] as? String ?? "", $0) })
        }

        /// The names of the targets and products that `target` depends on.
        private static func dependencies(of target: [String: Any]) -> [String] {
            let list = target["dependencies"] as? [[String: [Any]]] ?? []
            return list.compactMap { $0.values.first?.first as? String }.sorted()
        }
    }
}
