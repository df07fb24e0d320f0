import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension CommandScenarios {
    /// `config/first-token`: a newcomer's way from a built program to a token on a broker of their own.
    @Suite(.timeLimit(.minutes(5))) struct FirstTokenTests {
        private static let script = Repository.root.appending(path: "config/first-token").path
        private static let cluster = ProcessInfo.processInfo.environment["REMINT_TEST_BROKERS"] ?? ""

        /// Runs the script with nothing but these settings.
        private func run(_ settings: [String: String]) async throws -> Program {
            let none = [
                "KAFKA": "", "DIR": "", "PREFIX": "", "DELIVERY": "", "PATIENCE": "", "REMINT": Repository.remint,
            ]
            return try await Program.run(Self.script, [], environment: none.merging(settings) { _, new in new })
        }

        /// Checks that the script finished, and that its files in `folder` agree with its output.
        private func expectToken(_ script: Program, in folder: URL) throws {
            try #require(script.status == 0, "\(script.outputText)\(script.errorText)")
            let steps = script.outputText.split(separator: "\n").filter { $0.contains(#/^\d\/7 /#) }
            #expect(steps.compactMap { $0.first?.wholeNumberValue } == Array(1...7))
            #expect(script.outputText.contains("Braze says: accepted"))
            let record = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.appending(path: "token.json")))
            let user = try #require(script.outputText.firstMatch(of: /EXPIRED for (newcomer-\d+-\d+)/)?.1)
            #expect((record as? [String: Any])?["app"] as? String == "first-token")
            #expect(script.outputText.contains("\"sub\":\"\(user)\""))
            let log = try String(contentsOf: folder.appending(path: "worker.log"), encoding: .utf8)
            #expect(!log.logLines("worker.stopped").isEmpty)
        }

        @Test func `first-token leads to a token on a broker, each time it runs`() async throws {
            let broker = try EmbeddedBroker(logger: quiet)
            let folder = try TemporaryFolder()
            let kept = folder.url.appending(path: "kept")
            let settings = [
                "KAFKA": broker.bootstrapServers, "DELIVERY": "at_least_once", "TMPDIR": folder.url.path,
                "DIR": kept.path,
            ]
            let first = try await run(settings)
            try expectToken(first, in: kept)
            let ring = try Data(contentsOf: kept.appending(path: "keys/first-token/keyring.json"))
            let again = try await run(settings)
            try expectToken(again, in: kept)
            #expect(try Data(contentsOf: kept.appending(path: "keys/first-token/keyring.json")) == ring)
            let passing = try await run(settings.merging(["DIR": ""]) { _, new in new })
            #expect(passing.status == 0, "\(passing.outputText)\(passing.errorText)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["kept"])
            await broker.close()
        }

        @Test(.enabled(if: !cluster.isEmpty, "needs a real Kafka: set REMINT_TEST_BROKERS=host:port"))
        func `first-token leads to a token on a real broker, in a transaction`() async throws {
            let folder = try TemporaryFolder()
            let prefix = "remint-test-first-\(UUID().uuidString.prefix(8))"
            let script = try await run(["KAFKA": Self.cluster, "DIR": folder.url.path, "PREFIX": prefix])
            try expectToken(script, in: folder.url)
        }

        @Test func `first-token reports in one line what keeps it from the token, and leaves nothing behind`()
            async throws
        {
            let folder = try TemporaryFolder()
            let missing = folder.url.appending(path: "missing")
            for (settings, expected) in [
                ([:], "name your broker: KAFKA=host:port"),
                (["KAFKA": "127.0.0.1:1", "PATIENCE": "2"], "no broker answers at 127.0.0.1:1"),
                (["KAFKA": "127.0.0.1:1", "PATIENCE": "soon"], "PATIENCE is a number of seconds"),
                (["KAFKA": "127.0.0.1:1", "PREFIX": "a b"], "PREFIX is the beginning of a topic's name"),
                (["KAFKA": "127.0.0.1:1", "REMINT": missing.path], "\(missing.path) cannot be run"),
            ] as [([String: String], String)] {
                let script = try await run(settings.merging(["TMPDIR": folder.url.path]) { $1 })
                #expect(script.status == 1)
                #expect(script.errorText.hasPrefix("first-token: \(expected)"), "\(script.errorText)")
                #expect(script.errorText.split(separator: "\n").count == 1, "\(script.errorText)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        }

        @Test func `first-token gives up on a worker that does not start`() async throws {
            let broker = try EmbeddedBroker(logger: quiet)
            let folder = try TemporaryFolder()
            let script = try await run([
                "KAFKA": broker.bootstrapServers, "TMPDIR": folder.url.path, "PATIENCE": "5",
                "REMINT": try Self.idleProgram(in: folder.url),
            ])
            #expect(script.status == 1)
            #expect(
                script.errorText.contains("first-token: the worker does not consume after 5 s"), "\(script.errorText)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["idle"])
            await broker.close()
        }

        /// The program, but for its worker, which waits and reports nothing.
        private static func idleProgram(in folder: URL) throws -> String {
            let file = folder.appending(path: "idle")
            let text = "#!/bin/sh\n[ \"$1\" = run ] && exec sleep 600\nexec '\(Repository.remint)' \"$@\"\n"
            try Data(text.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
            return file.path
        }
    }
}
