import Foundation
import JOSE
import Kafka
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// The commands, as a person meets them.
    @Suite(.timeLimit(.minutes(10))) struct CommandTests {
        private struct Mistake: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let from: String
            let to: String
            /// The required text of the line, after the file's name.
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
                expected: "Create the ring: remint keys generate --key braze-ios --config "),
            Mistake(
                testDescription: "a key of the wrong kind", from: "path: keys/braze-ios ",
                to: "path: keys/another-kind ",
                expected: "is for ES256, and Braze takes RS256 alone"),
            Mistake(
                testDescription: "two rings with one folder", from: "path: keys/braze-ios ",
                to: "path: keys/onesignal-shop ",
                expected: "keys.onesignal-shop has the folder of keys.braze-ios"),
            Mistake(
                testDescription: "an unknown adapter", from: "adapter: braze", to: "adapter: brase",
                expected: "no adapter is called brase; did you mean braze?"),
            Mistake(
                testDescription: "a promise that cannot be kept", from: "log:", to: "delivery: exactly_once\nlog:",
                expected: "error: the embedded broker keeps no transactions"),
        ]

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

        @Test func `check and run point at the mistake and start nothing`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            try await prepare(folder)
            try FileManager.default.copyItem(
                at: folder.appending(path: "keys/onesignal-shop"), to: folder.appending(path: "keys/another-kind"))
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
                for line in lines {
                    #expect(line.contains("keyring.json cannot be opened"), "\(line)")
                    #expect(line.contains("Create the ring: remint keys generate --key "), "\(line)")
                }
            }
        }

        @Test func `the config command shows the effective configuration, and the schema`() async throws {
            let schema = try await Program.run(Repository.remint, ["config", "schema"])
            let written = try String(
                contentsOf: Repository.root.appending(path: "config/remint.schema.json"), encoding: .utf8)
            #expect(schema.status == 0 && schema.outputText == written)
            let temporary = try TemporaryFolder()
            let file = temporary.url.appending(path: "remint.yaml")
            let text = """
                kafka: { bootstrap_servers: "${SERVERS}", properties: { sasl.password: hunter2 } }
                keys: { shop: { path: keys/shop } }
                apps: { ios: { adapter: ably, key: shop } }

                """
            try Data(text.utf8).write(to: file)
            let show = ["config", "show", "--config", file.path]
            let shown = try await Program.run(
                Repository.remint, show, environment: ["SERVERS": "127.0.0.1:9092"])
            #expect(shown.status == 0 && shown.errorText.isEmpty, "\(shown.errorText)")
            #expect(shown.outputText.contains("  bootstrap_servers: 127.0.0.1:9092  # \(file.path):1, environment\n"))
            #expect(shown.outputText.contains("    adapter: ably  # \(file.path):3\n"))
            #expect(shown.outputText.contains("  level: info  # default\n"))
            #expect(!shown.outputText.contains("hunter2"))
            let refused = try await Program.run(Repository.remint, show)
            #expect(refused.status == 1 && refused.outputText.isEmpty)
            #expect(
                refused.errorText.contains("\(file.path):1:29: error: the environment variable SERVERS is not defined"))
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

        @Test func `inspect distinguishes a good token from a bad one`() async throws {
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

        @Test func `inspect opens a sealed token with its recipient's key, and with no other`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            let demo = try await prepare(folder)
            let results = try #require(try JSONSerialization.jsonObject(with: demo.standardOutput) as? [[String: Any]])
            let token = try #require(
                results.first { $0["app"] as? String == "braze-ios" && $0["token"] != nil }?["token"] as? String)
            let (own, other) = (folder.appending(path: "own.jwk"), folder.appending(path: "other.jwk"))
            let bob =
                #""x":"weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ","y":"e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck""#
            let alice =
                #""x":"gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0","y":"SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps""#
            try Self.write(bob, d: "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw", to: own)
            try Self.write(alice, d: "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo", to: other)
            let recipient = try JWERecipient(publicJWK: SecretBytes(copying: Array(Self.jwk(bob).utf8)))
            let sealed = String(decoding: try recipient.seal(Array(token.utf8)), as: UTF8.self)
            let inspect = [
                "inspect", "--config", folder.appending(path: "remint.yaml").path, "--app", "braze-ios", "--recipient",
            ]
            let good = try await Program.run(Repository.remint, inspect + [own.path, sealed])
            #expect(good.status == 0 && good.outputText.contains("Braze says: accepted"), "\(good.errorText)")
            let bad = try await Program.run(Repository.remint, inspect + [other.path, sealed])
            #expect(bad.status != 0 && bad.errorText.contains("does not open the token"), "\(bad.errorText)")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: own.path)
            let open = try await Program.run(Repository.remint, inspect + [own.path, sealed])
            #expect(open.status != 0 && !open.outputText.contains("accepted"), "\(open.errorText)")
        }

        /// A key of RFC 7518, appendix C.
        private static func jwk(_ point: String, d: String? = nil) -> String {
            #"{"kty":"EC","crv":"P-256","alg":"ECDH-ES+A256KW",\#(point)\#(d.map { #","d":"\#($0)""# } ?? "")}"#
        }

        private static func write(_ point: String, d: String, to file: URL) throws {
            try jwk(point, d: d).write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }

        @discardableResult private func prepare(_ folder: URL) async throws -> Program {
            let demo = try await Program.run(Repository.remint, ["demo", "--json", "--dir", folder.path])
            try #require(demo.status == 0, "\(demo.errorText)")
            return demo
        }
    }
}
