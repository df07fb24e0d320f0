import Foundation
import ProgramTestSupport
import Testing

extension CommandScenarios {
    /// The commands that `remint init` prints, up to the first token.
    @Suite(.timeLimit(.minutes(5))) struct FirstConfigurationTests {
        /// Starts a printed command, which continues while the test does.
        private func start(_ line: String, in folder: URL) throws -> Program {
            let rest = line.dropFirst("remint ".count)
            return try Program("/bin/sh", ["-c", "exec '\(Repository.remint)' \(rest)"], directory: folder)
        }

        /// Moves the admin server and the gateway's metrics to free ports.
        private func move(_ shop: String, in folder: URL) throws {
            let file = folder.appending(path: shop).appending(path: "remint.yaml")
            let text = try String(contentsOf: file, encoding: .utf8)
            let (admin, metrics) = try (Gateway.freePort(), Gateway.freePort())
            try Data(text.replacing(":9464", with: ":\(admin)").replacing(":9465", with: ":\(metrics)").utf8)
                .write(to: file)
        }

        private func commands(of program: Command) -> [String] {
            program.outputText.split(separator: "\n").filter { $0.hasPrefix("  remint ") || $0.contains(" curl ") }
                .map { String($0.dropFirst(2)) }
        }

        @Test func `the commands that init prints lead to a token`() async throws {
            let folder = try TemporaryFolder()
            let brokers = "embedded:\(try Gateway.freePort())"
            let made = try await Command.shell(
                "remint init --vendor braze --generate --brokers \(brokers) --dir 'my shop'", in: folder.url)
            try #require(made.status == 0, "\(made.errorText)")
            try move("my shop", in: folder.url)
            let printed = commands(of: made)
            try #require(printed.count == 3, "\(made.outputText)")
            let check = try await Command.shell(printed[0], in: folder.url)
            #expect(check.status == 0, "\(check.errorText)")
            let worker = try start(printed[1], in: folder.url)
            try #require(await worker.logged("worker.consuming"), "\(worker.errorText)")
            let sent = try await Command.shell(printed[2], in: folder.url)
            #expect(sent.status == 0, "\(sent.errorText)")
            let tail = try #require(made.outputText.split(separator: "output of: ").last).split(separator: "\n")
            let shown = try await Command.shell(String(try #require(tail.first)), in: folder.url)
            #expect(shown.status == 0 && shown.outputText.contains("u-42"), "\(shown.outputText)\(shown.errorText)")
            worker.terminate()
            await worker.waitForEnd()
        }

        @Test func `the commands that init prints for a gateway lead to a token over HTTP`() async throws {
            let folder = try TemporaryFolder()
            let address = "127.0.0.1:\(try Gateway.freePort())"
            let made = try await Command.shell(
                "remint init --vendor braze --generate --gateway --brokers embedded", in: folder.url)
            try #require(made.status == 0, "\(made.errorText)")
            try move(".", in: folder.url)
            let file = folder.url.appending(path: "remint.yaml"), text = try String(contentsOf: file, encoding: .utf8)
            try #require(text.contains("127.0.0.1:8080"))
            try Data(text.replacing("127.0.0.1:8080", with: "\(address)\n  drain: 0s").utf8).write(to: file)
            let printed = commands(of: made)
            try #require(printed.count == 3, "\(made.outputText)")
            let process = try start(printed[1], in: folder.url)
            try #require(await process.logged("gateway.listening"), "\(process.errorText)")
            let answer = try await Command.shell(
                printed[2].replacing("127.0.0.1:8080", with: address), in: folder.url)
            #expect(answer.status == 0, "\(answer.errorText)")
            #expect(answer.outputText.contains("\"token\""), "\(answer.outputText)\(process.errorText)")
            for event in ["worker.consuming", "gateway.listening"] {
                let service = event.prefix { $0 != "." }
                let lines = process.logLines(event)
                #expect(
                    !lines.isEmpty && lines.allSatisfy { $0.contains("\"remint.service\":\"\(service)\"") }, "\(lines)")
            }
            process.terminate()
            await process.waitForEnd()
            #expect(process.status == 0, "\(process.errorText)")
        }
    }
}
