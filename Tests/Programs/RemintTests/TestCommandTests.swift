import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// `remint test`, as an operator and a pipeline meet it.
@Suite(.timeLimit(.minutes(5))) struct TestCommandTests {
    private func remint(_ arguments: [String], in folder: URL? = nil) async throws -> Command {
        try await Command.remint(["test"] + arguments, directory: folder)
    }

    @Test func `the shipped configuration's tests pass without any key`() async throws {
        let config = Repository.root.appending(path: "config")
        let program = try await remint(["--config", "remint.yaml"], in: config)
        #expect(program.status == 0, "\(program.outputText)\(program.errorText)")
        let lines = program.outputText.split(separator: "\n")
        #expect(lines.last == "8 tests, all ok")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix("ok     ") })
        #expect(program.errorText.hasPrefix("keys made for this run, and forgotten: shop-braze, "))
    }

    @Test func `the page's example works as written`() async throws {
        let page = try String(
            contentsOf: Repository.root.appending(path: "config/README.md"), encoding: .utf8)
        let part = try #require(page.split(separator: "## Tests of a configuration").last)
        let blocks = part.split(separator: "```").map(String.init)
        let yaml = try #require(blocks.first { $0.hasPrefix("yaml\n") }).dropFirst(5)
        let shown = try #require(blocks.first { $0.hasPrefix("\nok ") || $0.hasPrefix("text\n") })
        let folder = try TemporaryFolder()
        let least = """
            kafka: { bootstrap_servers: "127.0.0.1:9092" }
            keys: { shop-braze: { path: keys/shop-braze } }
            apps: { shop-ios: { adapter: braze, key: shop-braze, lifetime: 12h } }

            """
        try Data((least + yaml).utf8).write(to: folder.url.appending(path: "remint.yaml"))
        let program = try await remint(["--config", "remint.yaml"], in: folder.url)
        #expect(program.status == 1, "\(program.errorText)")
        // The place is that of a file of one's own.
        let place = /remint\.yaml:[0-9]+:/
        let said = program.outputText.replacing(place, with: "remint.yaml:N:")
        #expect(shown.replacing(place, with: "remint.yaml:N:").contains(said.dropLast()), "\(said)")
    }

    @Test func `each kind of mistake ends the test command in its own way`() async throws {
        let folder = try TemporaryFolder()
        let least = """
            kafka: { bootstrap_servers: "127.0.0.1:9092" }
            keys: { shop: { path: keys/shop } }
            apps: { ios: { adapter: braze, key: shop } }

            """
        let file = folder.url.appending(path: "remint.yaml")
        try Data(least.utf8).write(to: file)
        let none = try await remint(["--config", "remint.yaml"], in: folder.url)
        #expect(none.status == 1 && none.errorText.contains("remint.yaml has no tests; write them under tests:"))

        let test = "  NAME: { app: ios, reissue: { user: u-42 }, expect: { outcome: OUTCOME } }\n"
        func write(_ name: String, _ outcome: String, to path: String) throws {
            let text = "tests:\n" + test.replacing("NAME", with: name).replacing("OUTCOME", with: outcome)
            try Data(text.utf8).write(to: folder.url.appending(path: path))
        }
        try write("beside it", "minted", to: "a_test.yaml")
        try write("another", "skipped", to: "b_test.yaml")
        try write("not found by itself", "minted", to: "c.yaml")
        let both = try await remint(["--config", "remint.yaml"], in: folder.url)
        #expect(both.status == 1)
        #expect(
            both.outputText == """
                ok     beside it: minted
                FAILED another: minted
                b_test.yaml:2:68: error: outcome: expected skipped, seen minted
                2 tests, 1 ok, 1 failed

                """)
        let chosen = try await remint(["--config", "remint.yaml", "--filter", "beside"], in: folder.url)
        #expect(chosen.status == 0 && chosen.outputText.hasSuffix("1 test, all ok\n"))
        let named = try await remint(["--config", "remint.yaml", "c.yaml", "--format", "json"], in: folder.url)
        #expect(
            named.status == 0 && named.outputText.hasPrefix(#"{"ok":true,"tests":[{"name":"not found by itself""#))
        for usage in [["--filter", "nowhere"], ["--format", "yaml"], ["--filtre", "x"]] {
            let program = try await remint(["--config", "remint.yaml"] + usage, in: folder.url)
            #expect(program.status == 2, "\(usage)")
        }
        try Data(least.replacing("adapter: braze", with: "adapter: brase").utf8).write(to: file)
        let broken = try await remint(["--config", "remint.yaml"], in: folder.url)
        #expect(broken.status == 1 && broken.outputText.isEmpty)
        #expect(broken.errorText.contains("remint.yaml:3:25: error: no adapter is called brase; did you mean braze?"))
    }

    @Test func `a local ring signs unless an option forbids it, and a broken one is an error`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url.appending(path: "shop")
        try await DemoFolder.copy(to: folder)
        let version = DemoFolder.version.replacing("braze-ios", with: "onesignal-shop")
        let text = """
            tests:
              its own key:
                app: onesignal-shop
                reissue: { user: u-42 }
                expect: { outcome: minted, headers: { remint-key-id: \(version) } }

            """
        try Data(text.utf8).write(to: folder.appending(path: "keys_test.yaml"))
        let own = try await remint(["--config", "remint.yaml"], in: folder)
        #expect(own.status == 0 && own.errorText.isEmpty, "\(own.outputText)\(own.errorText)")
        let other = try await remint(["--config", "remint.yaml", "--ephemeral-keys"], in: folder)
        #expect(other.status == 1)
        #expect(other.outputText.contains(#"expected "\#(version)", seen "test-key""#))
        try Data("{}".utf8).write(to: folder.appending(path: "keys/onesignal-shop/keyring.json"))
        let broken = try await remint(["--config", "remint.yaml"], in: folder)
        #expect(broken.status == 1 && broken.outputText.isEmpty)
        #expect(broken.errorText.contains("must hold an array \"versions\""), "\(broken.errorText)")
    }
}
