import AdapterKit
import AsyncTestSupport
import Foundation
@_spi(Signing) import JOSE
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// Brokers, leaders and topics that go and return under a gateway: it is not ready, and ready again by itself.
    @Suite(.timeLimit(.minutes(5))) struct PickupOutageTests {
        private static let path = "/v1/apps/braze-ios/token"

        private static func version(_ answer: Gateway.Answer) throws -> Int64 {
            try #require(answer.body?["version"]?.integer, "\(answer.text)")
        }

        /// A new token of `user`, as a worker publishes it.
        private static func token(_ user: String) -> ProducerRecord {
            tokenRecord(user, version: Int64(Date.now.timeIntervalSince1970 * 1e6))
        }

        @Test func `brokers that return find the gateway ready by itself, with its streams and its waiting calls`()
            async throws
        {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let (ann, ben) = (try gateway.session("ann"), try gateway.session("ben"))
            let first = try Self.version(try await gateway.acceptedCall("\(Self.path)?wait=30", session: ann))
            let stream = try gateway.stream("braze-ios", ann)
            try #require(await stream.wrote("id: \(first)"), "\(stream.errorText)")

            try await shop.broker.inject(.brokerDown(1))
            let unready = try await gateway.health {
                $0.dependency("brokers")?.hasPrefix("no broker answers since ") == true
            }
            #expect(unready.status == 503, "\(unready.text)")
            #expect(try await gateway.call(Self.path, session: ann).body?["version"]?.integer == first)
            let waited = try await gateway.call("\(Self.path)?after=\(first)&wait=2", session: ann)
            #expect(waited.status == 503 && waited.text("code") == "unavailable", "\(waited.text)")
            let refused = try await gateway.call("\(Self.path)?wait=30", session: ben)
            #expect(refused.status == 503 && refused.text("code") == "unavailable", "\(refused.text)")
            #expect(refused.headers["retry-after"] != nil)
            let isStreaming = stream.status < 0
            #expect(isStreaming, "\(stream.errorText)")
            // A stream that is opened now gets a token once there are brokers.
            let late = try gateway.stream("braze-ios", try gateway.session("cid"))
            try #require(await late.wrote("event: problem"), "\(late.errorText)")
            async let held = newer(than: first, gateway, ann)

            try await shop.broker.inject(.brokerUp(1))
            let ready = try await gateway.health { $0.status == 200 }
            #expect(ready.dependency("brokers") == "ok" && ready.dependency("tokens") == "ok")
            try #require(await gateway.program.logged("gateway.brokers-reachable"))
            // The worker may return later than the gateway.
            try await eventually("a token", within: .seconds(240)) {
                try await gateway.call("\(Self.path)?wait=30", session: ben).status == 200
            }
            let report = try await gateway.report(
                Array(#"{"errorCode":22,"userId":"ann"}"#.utf8), "braze-ios", session: ann)
            let second = try Self.version(report)
            try #require(second > first, "\(report.text) \(gateway.program.errorText) \(worker.errorText)")
            #expect(try await held == second)
            #expect(await stream.wrote("id: \(second)"), "\(stream.errorText)")
            #expect(!stream.errorText.contains("event: reconnect"))
            try #require(await late.wrote("event: token"), "\(late.errorText)")
            await shop.close()
        }

        /// The version of the next token above `version`, waited for as devices do.
        private func newer(than version: Int64, _ gateway: Gateway, _ session: String) async throws -> Int64 {
            try await eventualValue("a newer token", within: .seconds(240)) {
                let answer = try await gateway.call("\(Self.path)?after=\(version)&wait=30", session: session)
                if answer.status == 200 { return try Self.version(answer) }
                // While no broker answers, no token can come.
                #expect([204, 503].contains(answer.status), "\(answer.text)")
                return nil
            }
        }

        @Test func `calls end within their wait without brokers, and known tokens are served`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let (ann, ben) = (try gateway.session("ann"), try gateway.session("ben"))
            let known = try await gateway.call("/v1/apps/onesignal-shop/token", session: ann)
            #expect(known.status == 200, "\(known.text)")
            await shop.broker.close()

            // At first nobody knows that the brokers are gone: each call ends in its own time. The rest is a busy machine's.
            for wait in [0, 3] {
                let start = ContinuousClock.now
                let answer = try await gateway.call("/v1/apps/onesignal-shop/token?wait=\(wait)", session: ben)
                #expect([202, 503].contains(answer.status), "\(answer.text)")
                if answer.status == 503 { #expect(answer.headers["retry-after"] != nil) }
                #expect((.now - start) < .seconds(wait + 15), "wait=\(wait)")
            }
            let unready = try await gateway.health { $0.dependency("brokers") != "ok" }
            #expect(unready.status == 503)
            #expect(unready.dependency("brokers")?.hasPrefix("no broker answers since ") == true)
            try #require(await gateway.program.logged("gateway.brokers-unreachable"))

            // Now it is known.
            for wait in [0, 30] {
                let start = ContinuousClock.now
                let answer = try await gateway.call(
                    "/v1/apps/onesignal-shop/token?wait=\(wait)", session: try gateway.session("carl"))
                #expect(answer.status == 503 && answer.text("code") == "unavailable", "\(answer.text)")
                #expect((.now - start) < .seconds(15), "wait=\(wait)")
            }
            let served = try await gateway.call("/v1/apps/onesignal-shop/token", session: ann)
            #expect(served.status == 200 && served.text("token") == known.text("token"))
            #expect(gateway.program.logCount("gateway.brokers-unreachable") == 1)
            await shop.close()
        }
    }
}
