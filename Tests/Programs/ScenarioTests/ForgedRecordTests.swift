import AdapterKit
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// Records that somebody else wrote to the topics which the gateway and the worker read back.
    @Suite(.timeLimit(.minutes(5))) struct ForgedRecordTests {
        /// Forged before the gateway and the worker start, so that each reads all of it again after each restart.
        @Test func `forged tokens are handed to nobody, trap nobody and stop no version`() async throws {
            let shop = try await Shop.open()
            let micros = Int64(Date.now.timeIntervalSince1970 * 1e6)
            try await shop.produce([
                tokenRecord("someone-else", token: "e30.e30.Zm9yZ2Vk", version: micros, key: "braze-ios/carol"),
                tokenRecord("carol", version: .min),
                tokenRecord("carol", version: .max),
                tokenRecord("dave", version: .max),
            ])
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            for user in ["carol", "dave"] {
                let session = try gateway.session(user)
                let answer = try await gateway.call("/v1/apps/braze-ios/token", session: session)
                #expect(answer.status == 200, "\(user): \(answer.text)")
                let token = try #require(answer.text("token"))
                #expect(TokenInspection(Array(token.utf8)).claims?["sub"]?.string == user)
                let version = try #require(answer.body?["version"]?.integer)
                #expect(version >= micros && version < micros + 3_600_000_000, "the version is a clock's: \(version)")
                let report = try await gateway.report(
                    Array(#"{"errorCode":22,"userId":"\#(user)"}"#.utf8), "braze-ios", session: session)
                #expect(report.status == 200, "\(report.text)")
            }
            let metrics = try await gateway.scrape()
            #expect(
                metrics.contains(#"remint_unreadable_records_total{topic_kind="tokens",reason="version"} 3"#),
                "\(metrics)")
            #expect(metrics.contains(#"remint_unreadable_records_total{topic_kind="tokens",reason="mismatched"} 1"#))
            let lines = gateway.program.logLines("record.skipped")
            #expect(lines.count == 2, "once for each reason: \(lines)")
            #expect(gateway.program.status == -1, "the gateway runs")
            await shop.close()
        }
    }
}
