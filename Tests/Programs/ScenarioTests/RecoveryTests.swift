import Foundation
import FoundationNetworking
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// From a failure's first report to the token in its device's hands, as worker and gateway report it.
    @Suite(.timeLimit(.minutes(5))) struct RecoveryTests {
        private static func report(_ user: String) -> String { #"{"errorCode":22,"userId":"\#(user)"}"# }

        /// The samples of a histogram's sum and count for `braze-ios`.
        private func figures(_ metric: String, at address: String) async throws -> (count: Double, sum: Double) {
            let url = try #require(URL(string: "http://\(address)/metrics"))
            let (data, _) = try await URLSession.shared.data(from: url)
            let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
            func value(_ suffix: String) -> Double {
                lines.first { $0.hasPrefix("\(metric)_\(suffix){app=\"braze-ios\"}") }?
                    .split(separator: " ").last.flatMap { Double($0) } ?? 0
            }
            return (value("count"), value("sum"))
        }

        @Test func `a recovery counts once, from the report to the first time the token is fetched`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let metrics = "127.0.0.1:\(try Gateway.freePort())"
            let gateway = try await Gateway.start(shop, more: ["metrics: \(metrics)"])
            let session = try gateway.session("ann")
            // The edge had it lie for twenty seconds.
            let observed = Date.now.addingTimeInterval(-20)
            var record = rawReport("braze-ios", Self.report("ann"))
            record = ProducerRecord(
                topic: record.topic, key: record.body.key, value: record.body.value,
                headers: record.body.headers + [
                    RecordHeader("remint-observed-at", observed.formatted(.iso8601))
                ])
            try await shop.produce([record])
            let tokens = try await shop.consumeOutputs { !$0.isEmpty }
            #expect(
                tokens.first?.header("remint-reported-at")
                    == "\(Int64(observed.timeIntervalSince1970.rounded(.down)) * 1000)")
            let got = try await gateway.call("/v1/apps/braze-ios/token?after=0&wait=20", session: session)
            #expect(got.status == 200, "\(got.text)")
            let again = try await gateway.call("/v1/apps/braze-ios/token", session: session)
            #expect(again.text("token") == got.text("token"))
            let first = try await figures("remint_recovery_seconds", at: metrics)
            #expect(first.count == 1 && (20..<300).contains(first.sum), "\(first)")

            // A token that nobody reported a failure for ends none.
            let other = try await gateway.call("/v1/apps/braze-ios/token", session: try gateway.session("ben"))
            #expect(other.status == 200, "\(other.text)")
            // Another failure, from its report to the answer of the same call.
            let third = try gateway.session("cat")
            let answer = try await gateway.report(Array(Self.report("cat").utf8), "braze-ios", session: third)
            #expect(answer.status == 200, "\(answer.text)")
            let stream = try Program(
                "curl",
                [
                    "-sN", "--max-time", "60", "-o", "/dev/stderr",
                    "http://\(gateway.address)/v1/apps/braze-ios/token/stream?access_token=\(third)",
                ])
            try #require(await stream.wrote("event: token"), "\(stream.errorText)")
            stream.kill()
            await stream.waitForEnd()
            let second = try await figures("remint_recovery_seconds", at: metrics)
            #expect(second.count == 2 && second.sum - first.sum < 20, "\(second) after \(first)")
            let admin = try await AdminAPI(of: worker)
            try await admin.wait("remint_answer_seconds_count", [#"app="braze-ios""#], atLeast: 2)
            let published = try await figures("remint_answer_seconds", at: admin.address)
            #expect(published.count == 2 && (20..<300).contains(published.sum), "\(published), in hands \(second)")
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }
    }
}
