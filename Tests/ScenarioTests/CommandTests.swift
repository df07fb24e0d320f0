import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The commands, as a person meets them.
    @Suite(.timeLimit(.minutes(10))) struct CommandTests {
        private struct Mistake: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let from: String
            let to: String
            /// What must stand in the line, after the file's name.
            let expected: String
        }

        private static let mistakes = [
            Mistake(
                testDescription: "an unknown key", from: "log:", to: "logg: 1\nlog:",
                expected: ":5:1: error: unknown key logg; did you mean log?"),
            Mistake(
                testDescription: "a misspelt setting", from: "application_code", to: "aplication_code",
                expected: "did you mean application_code?"),
            Mistake(
                testDescription: "a missing key ring", from: "path: keys/braze-ios ", to: "path: keys/nowhere ",
                expected: "keys/nowhere/keyring.json cannot be opened"),
            Mistake(
                testDescription: "a key of the wrong kind", from: "path: keys/braze-ios ",
                to: "path: keys/onesignal-shop ",
                expected: "is for ES256, and Braze takes RS256 alone"),
            Mistake(
                testDescription: "an unknown adapter", from: "adapter: braze", to: "adapter: brase",
                expected: "no adapter is called brase; did you mean braze?"),
            Mistake(
                testDescription: "a promise that cannot be kept", from: "log:", to: "delivery: exactly_once\nlog:",
                expected: "error: the embedded broker keeps no transactions"),
        ]

        @Test func `check and run point at the mistake and start nothing`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            try await prepare(folder)
            let file = folder.appending(path: "remint.yaml")
            let good = try String(contentsOf: file, encoding: .utf8)
            let check = try await Program.run(Repository.remint, ["check", "--config", file.path])
            #expect(check.status == 0, "\(check.errorText)")
            for mistake in Self.mistakes {
                try Data(good.replacing(mistake.from, with: mistake.to, maxReplacements: 1).utf8).write(to: file)
                for command in ["check", "run"] {
                    let program = try await Program.run(Repository.remint, [command, "--config", file.path])
                    #expect(program.status == 1, "\(mistake)")
                    let lines = program.errorText.split(separator: "\n")
                    let line = try #require(lines.first { $0.contains(mistake.expected) }, "\(program.errorText)")
                    #expect(line.contains(#/^[^:]+:\d+:\d+: error: /#), "\(line)")
                    #expect(!program.errorText.contains("consumes"))
                }
            }
        }

        @Test func `a shipped configuration lacks nothing but its keys`() async throws {
            let files = Repository.files(under: "config", ending: "yaml").filter {
                $0.lastPathComponent == "remint.yaml"
            }
            #expect(files.count == 2)
            // What the containers' one reads from the environment.
            let environment = ["REMINT_PICKUP_HASH": String(repeating: "0", count: 64)]
            for file in files {
                let program = try await Program.run(
                    Repository.remint, ["check", "--config", file.path], environment: environment)
                let lines = program.errorText.split(separator: "\n").filter { $0.contains(": error: ") }
                #expect(!lines.isEmpty)
                for line in lines { #expect(line.contains("keyring.json cannot be opened"), "\(line)") }
            }
        }

        @Test func `check prints JSON for machines`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            try await prepare(folder)
            let program = try await Program.run(
                Repository.remint, ["check", "--json", "--config", folder.appending(path: "remint.yaml").path])
            let report = try #require(try JSONSerialization.jsonObject(with: program.standardOutput) as? [String: Any])
            #expect(report["ok"] as? Bool == true)
        }

        @Test func `check asks what the configuration connects to, when it is to`() async throws {
            let shop = try await Shop.open()
            let arguments = ["check", "--connect", "--config", shop.configuration]
            let good = try await Program.run(Repository.remint, arguments)
            #expect(good.status == 0, "\(good.outputText)\(good.errorText)")
            let lines = good.outputText.split(separator: "\n").dropFirst()
            #expect(lines.first == "brokers \(shop.broker.bootstrapServers): ok, 7 topics are shown")
            #expect(lines.count == 11 && lines.allSatisfy { $0.contains(": ok, ") }, "\(good.outputText)")

            try shop.configure("    key: braze-ios\n", "    key: braze-ios\n    topics: [shop.reports]\n")
            let wrong = try await Program.run(Repository.remint, arguments + ["--json"])
            #expect(wrong.status == 1)
            let report = try #require(try JSONSerialization.jsonObject(with: wrong.standardOutput) as? [String: Any])
            #expect(report["ok"] as? Bool == false)
            let asked = try #require(report["connections"] as? [[String: Any]])
            #expect(
                asked.filter { $0["ok"] as? Bool == false }.map { $0["asked"] as? String } == ["topic shop.reports"])

            await shop.broker.close()
            let gone = try await Program.run(Repository.remint, arguments + ["--timeout", "2s"])
            #expect(gone.status == 1)
            #expect(gone.outputText.contains("correct kafka.bootstrap_servers"), "\(gone.outputText)")
            let usage = try await Program.run(Repository.remint, arguments + ["--timeout", "soon"])
            #expect(usage.status == 2)
        }

        @Test func `inspect tells a good token from a bad one`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            let demo = try await prepare(folder)
            let results = try #require(try JSONSerialization.jsonObject(with: demo.standardOutput) as? [[String: Any]])
            let token = try #require(
                results.first { $0["app"] as? String == "braze-ios" && $0["token"] != nil }?["token"] as? String)
            let config = ["--config", folder.appending(path: "remint.yaml").path, "--app", "braze-ios"]
            let good = try await Program.run(Repository.remint, ["inspect"] + config + [token])
            #expect(good.status == 0 && good.outputText.contains("Braze says: accepted"), "\(good.outputText)")
            let other = try await Program.run(Repository.remint, ["inspect"] + config + ["--user", "someone", token])
            #expect(other.status == 1 && other.outputText.contains("21 SUBJECT_MISMATCH"), "\(other.outputText)")
            let cut = try await Program.run(Repository.remint, ["inspect"] + config + [String(token.dropLast(8))])
            #expect(cut.status == 1 && cut.outputText.contains("27 NO_MATCHING_PUBLIC_KEYS"), "\(cut.outputText)")
            let signature = try #require(token.split(separator: ".").last)
            #expect(!good.outputText.contains(signature))
            let usage = try await Program.run(Repository.remint, ["inspect"] + config + ["--ap", "x"])
            #expect(usage.status == 2)
        }

        @discardableResult private func prepare(_ folder: URL) async throws -> Program {
            let demo = try await Program.run(Repository.remint, ["demo", "--json", "--dir", folder.path])
            try #require(demo.status == 0, "\(demo.errorText)")
            return demo
        }
    }
}
