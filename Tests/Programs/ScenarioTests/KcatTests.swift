import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Another Kafka client on both sides of the worker.
    @Suite(.timeLimit(.minutes(5))) struct KcatTests {
        @Test func `reports fed by kcat are answered, and kcat reads the tokens`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let feed = ["-b", shop.broker.bootstrapServers, "-t", "remint.invalidations", "-P", "-H"]
            for (app, report) in Self.reports {
                let kcat = try await Program.run("kcat", feed + ["remint-app=\(app)"], input: Data(report.utf8))
                #expect(kcat.status == 0, "\(kcat.errorText)")
            }
            _ = try await shop.consumeOutputs { $0.count >= Self.reports.count }
            let read = try await Program.run(
                "kcat", ["-b", shop.broker.bootstrapServers, "-t", "remint.tokens", "-C", "-e", "-q", "-f", "%k %s\\n"])
            let lines = read.outputText.split(separator: "\n")
            #expect(lines.count == Self.reports.count)
            for (app, _) in Self.reports {
                let line = try #require(lines.first { $0.hasPrefix("\(app)/") }, "\(app)")
                let record = line[line.index(after: line.firstIndex(of: " ") ?? line.startIndex)...]
                // A second opinion on the token, from the topic straight into the command.
                let inspect = try await Command.remint(
                    ["inspect", "--config", shop.configuration, "--app", app],
                    input: Data(record.utf8))
                #expect(inspect.status == 0, "\(inspect.outputText) \(inspect.errorText)")
                #expect(inspect.outputText.contains("says: accepted"))
            }
            await shop.close(expecting: 0)
        }

        private static let reports = [
            ("braze-ios", #"{"errorCode":22,"userId":"kcat-1","signature":"a.b.c"}"#),
            ("onesignal-shop", #"{"externalId":"kcat-2"}"#),
            ("bloomreach-stream", #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"kcat@example.com"}}"#),
            ("bloomreach-customer", #"{"status":401,"customerIds":{"registered":"kcat@example.com"}}"#),
            ("dotdigital-push", #"{"nonce":"n-7","userId":"kcat-3"}"#),
            ("infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"kcat-4"}"#),
        ]
    }
}
