import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// Tokens, report signatures, secrets and keys show nowhere they were not asked for.
    @Suite(.timeLimit(.minutes(5))) struct SecrecyTests {
        @Test func `the demo at trace level logs nothing secret`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            let demo = try await Command.remint(
                ["demo", "--json", "--log-level", "trace", "--dir", folder.path])
            try #require(demo.status == 0, "\(demo.errorText)")
            let log = demo.errorText
            // A log that says nothing would pass; this one speaks.
            for event in ["worker.consuming", "events.dead-lettered"] { #expect(!log.logLines(event).isEmpty) }

            var secrets = try tokens(demo.standardOutput) + (try reportedSignatures())
            let keys = folder.appending(path: "keys")
            let files =
                FileManager.default.enumerator(at: keys, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
                ?? []
            for file in files where ["pem", "secret"].contains(file.pathExtension) {
                let text = try String(contentsOf: file, encoding: .utf8)
                secrets += text.split(whereSeparator: \.isNewline).map(String.init).filter { $0.count >= 16 }
            }
            #expect(secrets.count > 100)
            for secret in secrets {
                #expect(!log.contains(secret), "a secret of \(secret.count) characters is in the log")
            }
            #expect(!log.contains("PRIVATE KEY"))
        }

        @Test func `a worker at trace level does not log a password of its configuration`() async throws {
            let shop = try await Shop.open()
            let file = URL(filePath: shop.configuration)
            let text = try String(contentsOf: file, encoding: .utf8)
                .replacing("  properties:\n", with: "  properties:\n    sasl.password: the-canary-sings\n")
                .replacing("level: info", with: "level: trace")
            try #require(text.contains("the-canary-sings") && text.contains("level: trace"))
            try Data(text.utf8).write(to: file)
            let worker = try await shop.startWorker()
            worker.terminate()
            await worker.waitForEnd()
            #expect(worker.status == 0)
            let levels = Set(
                worker.errorText.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst().first })
            #expect(levels.contains("trace") || levels.contains("debug"), "\(levels)")
            #expect(!worker.errorText.contains("canary"))
            await shop.close()
        }

        /// Every token, and every signature by itself.
        private func tokens(_ json: Data) throws -> [String] {
            let results = try #require(try JSONSerialization.jsonObject(with: json) as? [[String: Any]])
            let tokens = results.compactMap { $0["token"] as? String }
            try #require(tokens.count > 50)
            return tokens + tokens.compactMap { $0.split(separator: ".").last.map(String.init) }
        }

        private func reportedSignatures() throws -> [String] {
            let pattern = /eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)/
            let found = try Repository.files(under: "adapters", ending: "json").flatMap { file in
                try String(contentsOf: file, encoding: .utf8).matches(of: pattern).map { String($0.1) }
            }
            try #require(!found.isEmpty)
            return Array(Set(found))
        }
    }
}
