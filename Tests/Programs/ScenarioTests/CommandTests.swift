import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension CommandScenarios {
    /// Commands that are about their process, or about the brokers.
    @Suite(.timeLimit(.minutes(5))) struct CommandTests {
        /// Libraries ignore SIGPIPE, as this shell does; a write to the closed pipe is an error then.
        @Test(arguments: [("metrics", 141), ("check --config nowhere.yaml", 1)])
        func `a command whose output nobody reads stops without a crash`(
            _ words: String, _ status: Int32
        ) async throws {
            let script = """
                trap '' PIPE
                exec 3> >(exit)
                wait $!
                \(Repository.remint) \(words) >&3 2>&3
                """
            let shell = try await Program.run("bash", ["-c", script])
            #expect(shell.status == status, "\(shell.errorText)")
        }

        @Test(arguments: [("logg: 1", nil, 1), ("log: { level: info }", nil, 75), ("log: { level: info }", "{", 75)])
        func `a worker ends with 75 where only its files are wrong`(
            _ section: String, _ listing: String?, _ status: Int32
        ) async throws {
            let folder = try TemporaryFolder()
            let file = folder.url.appending(path: "remint.yaml")
            let keys = "keys: { braze: { path: keys/braze } }\napps: { web: { adapter: braze, key: braze } }"
            try Data("kafka: { bootstrap_servers: embedded }\n\(keys)\n\(section)\n".utf8).write(to: file)
            if let listing {
                let ring = folder.url.appending(path: "keys/braze")
                try FileManager.default.createDirectory(at: ring, withIntermediateDirectories: true)
                try Data(listing.utf8).write(to: ring.appending(path: "keyring.json"))
            }
            let run = try await Program.run(Repository.remint, ["run", "--config", file.path])
            #expect(run.status == status, "\(run.errorText)")
        }

        @Test func `run points at a mistake in the configuration and starts nothing`() async throws {
            let folder = try TemporaryFolder()
            let file = folder.url.appending(path: "remint.yaml")
            try Data("kafka: { bootstrap_servers: embedded }\nlogg: 1\n".utf8).write(to: file)
            let run = try await Program.run(Repository.remint, ["run", "--config", file.path])
            #expect(run.status == 1)
            #expect(
                run.errorText.contains("remint.yaml:2:1: error: unknown key logg; did you mean log?"),
                "\(run.errorText)")
            #expect(!run.hasLogged("worker.consuming"))
        }

        @Test func `a worker whose admin address is in use stops before it consumes`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            let text = try String(contentsOfFile: shop.configuration, encoding: .utf8)
            try shop.configure("127.0.0.1:0", admin.address)
            try #require(try String(contentsOfFile: shop.configuration, encoding: .utf8) != text)
            let second = try await Program.run(Repository.remint, ["run", "--config", shop.configuration])
            #expect(second.status == 75)
            #expect(second.errorText.contains(admin.address), "\(second.errorText)")
            #expect(!second.hasLogged("worker.consuming"), "\(second.errorText)")
            await shop.close()
        }
    }
}
