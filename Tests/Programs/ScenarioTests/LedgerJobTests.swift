import Foundation
import Kafka
import Keyring
import Operations
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Batch jobs out of the ledger: what is asked for is what lives now.
    @Suite(.timeLimit(.minutes(5))) struct LedgerJobTests {
        private static let app = "braze-ios"

        @Test func `a job from the ledger asks for the ledger's users each time it is run`() async throws {
            let shop = try await Shop.open()
            let version = try #require(try shop.ring(Self.app).versions.first?.id)
            let state = shop.folder.appending(path: "job.json").path
            func job(_ more: String...) async throws -> Command {
                try await Command.remint(
                    [
                        "reissue", "--config", shop.configuration, "--ledger", "--key-id", version, "--state", state,
                        "--rate", "0",
                    ] + more)
            }
            let nobody = try await job("--key", Self.app)
            #expect(nobody.status == 0 && nobody.outputText.hasPrefix("0 events sent of 0 rows"), "\(nobody.errorText)")
            #expect(!FileManager.default.fileExists(atPath: state))
            // The second one ended by a clock that may be ahead.
            try await shop.produce([
                tokenRecord("ann", ring: Self.app, keyID: version, issued: 3600, end: 3600),
                tokenRecord("ben", ring: Self.app, keyID: version, issued: 3600, end: -60),
            ])
            let first = try await job("--key", Self.app)
            #expect(first.outputText.hasPrefix("2 events sent of 2 rows"), "\(first.outputText) \(first.errorText)")
            let again = try await job("--key", Self.app)
            #expect(again.outputText.hasPrefix("2 events sent of 2 rows"), "\(again.outputText) \(again.errorText)")
            #expect(again.errorText.contains("reading the ledger again"))
            #expect(Set(try await shop.bulkEvents().map(\.id)).count == 4)

            let ledger = try await Command.remint(
                [
                    "ledger", "--config", shop.configuration, "--brokers", shop.broker.bootstrapServers, "--key",
                    Self.app,
                ])
            #expect(ledger.outputText.contains("RING"), "\(ledger.outputText) \(ledger.errorText)")
            #expect(ledger.outputText.split(separator: "\n").count == 3, "\(ledger.outputText)")
            let misspelt = try await Command.remint(
                [
                    "reissue", "--config", shop.configuration, "--brokers", shop.broker.bootstrapServers, "--ledger",
                    "--key-id", "2O26", "--state", shop.folder.appending(path: "misspelt.json").path,
                ])
            #expect(misspelt.status == 1, "\(misspelt.outputText)")
            let words = "no live token of a version 2O26, which no ring lists either; it holds those of \(version) (1)"
            #expect(misspelt.errorText.contains(words), "\(misspelt.errorText)")
            let unknown = try await job("--key", "none")
            #expect(unknown.status != 0 && unknown.errorText.contains("no key ring is called none"))
            try shop.configure("  bootstrap_servers", "  group: others\n  bootstrap_servers")
            let others = try await job("--key", Self.app)
            #expect(others.status != 0 && others.errorText.contains("of another input or another configuration"))
            await shop.close()
        }
    }
}
