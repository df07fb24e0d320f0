import AdapterKit
import Foundation
import FoundationNetworking
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// Records that somebody else wrote to the topics which the gateway and the worker read back.
    @Suite(.timeLimit(.minutes(5))) struct ForgedRecordTests {
        private static func token(
            key: String, user: String, version: Int64, token: String = "e30.e30.c2ln"
        ) -> ProducerRecord {
            let now = Int64(Date.now.timeIntervalSince1970)
            let value = """
                {"app":"braze-ios","vendor":"braze","subject":{"user":"\(user)"},"token":"\(token)","algorithm":"RS256",\
                "key_id":"k","issued_at":\(now),"expires_at":\(now + 3600),"version":\(version),"event_id":"e"}
                """
            return ProducerRecord(
                topic: "remint.tokens", key: Array(key.utf8), value: Array(value.utf8),
                headers: [
                    RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("ce_source", "/remint/braze-ios"),
                    RecordHeader("ce_id", "e"), RecordHeader("remint-key-id", "k"),
                    RecordHeader("remint-expires-at", "\(now + 3600)"), RecordHeader("remint-version", "\(version)"),
                ])
        }

        /// Forged before the gateway and the worker start, so that each reads all of it again after each restart.
        @Test func `forged tokens are handed to nobody, trap nobody and stop no version`() async throws {
            let shop = try await Shop.open()
            let micros = Int64(Date.now.timeIntervalSince1970 * 1e6)
            try await shop.produce([
                Self.token(key: "braze-ios/carol", user: "someone-else", version: micros, token: "e30.e30.Zm9yZ2Vk"),
                Self.token(key: "braze-ios/carol", user: "carol", version: .min),
                Self.token(key: "braze-ios/carol", user: "carol", version: .max),
                Self.token(key: "braze-ios/dave", user: "dave", version: .max),
            ])
            let port = try Gateway.freePort()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop, more: ["metrics: 127.0.0.1:\(port)"])
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
            let (data, _) = try await URLSession.shared.data(
                from: try #require(URL(string: "http://127.0.0.1:\(port)/metrics")))
            let metrics = String(decoding: data, as: UTF8.self)
            #expect(
                metrics.contains(#"remint_unreadable_records_total{topic_kind="tokens",reason="version"} 3"#),
                "\(metrics)")
            #expect(metrics.contains(#"remint_unreadable_records_total{topic_kind="tokens",reason="mismatched"} 1"#))
            let lines = gateway.program.logLines("record.skipped")
            #expect(lines.count == 2, "once for each reason: \(lines)")
            #expect(gateway.program.status == -1, "the gateway runs")
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }
    }
}
