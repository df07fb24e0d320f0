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

        @Test func `check asks what the configuration connects to, when it is to`() async throws {
            let shop = try await Shop.open()
            let arguments = ["check", "--connect", "--config", shop.configuration]
            let good = try await Command.remint(arguments)
            #expect(good.status == 0, "\(good.outputText)\(good.errorText)")
            let lines = good.outputText.split(separator: "\n").dropFirst()
            #expect(lines.first == "brokers \(shop.broker.bootstrapServers): ok, 7 topics are shown")
            #expect(lines.count == 11 && lines.allSatisfy { $0.contains(": ok, ") }, "\(good.outputText)")

            try shop.configure("    key: braze-ios\n", "    key: braze-ios\n    topics: [shop.reports]\n")
            let wrong = try await Command.remint(arguments + ["--json"])
            #expect(wrong.status == 1)
            let report = try #require(try JSONSerialization.jsonObject(with: wrong.standardOutput) as? [String: Any])
            #expect(report["ok"] as? Bool == false)
            let asked = try #require(report["connections"] as? [[String: Any]])
            #expect(
                asked.filter { $0["ok"] as? Bool == false }.map { $0["asked"] as? String } == ["topic shop.reports"])

            await shop.close()
            let gone = try await Command.remint(arguments + ["--timeout", "2s"])
            #expect(gone.status == 1)
            #expect(gone.outputText.contains("correct kafka.bootstrap_servers"), "\(gone.outputText)")
            let usage = try await Command.remint(arguments + ["--timeout", "soon"])
            #expect(usage.status == 2)
        }
    }
}
