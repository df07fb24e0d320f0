import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// A gateway serves from the first second, whatever the token topic holds, and whatever it forgot.
    @Suite(.timeLimit(.minutes(5))) struct PickupStartTests {
        /// Tokens of as many strangers, for the token topic.
        private static func strangers(_ count: Int) -> [ProducerRecord] {
            let now = Int64(Date.now.timeIntervalSince1970 * 1e6), token = "e.e." + String(repeating: "s", count: 400)
            return (0..<count).map { tokenRecord("stranger-\($0)", token: token, version: now + Int64($0)) }
        }

        @Test func `a report that the worker calls superseded is answered even if its token was forgotten`()
            async throws
        {
            let shop = try await Shop.open(admission: "coalesce: 60s")
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop, more: ["cache: 1MB"])
            let session = try gateway.session("ann")
            let first = try await gateway.acceptedCall("/v1/apps/braze-ios/token?wait=30", session: session)
            let version = try #require(first.body?["version"]?.integer, "\(first.text)")
            // Known, it answers the next report within the window.
            let again = try await gateway.report(
                Array(#"{"errorCode":22,"userId":"ann"}"#.utf8), "braze-ios", session: session)
            #expect(again.body?["version"]?.integer == version, "\(again.text)")

            try await shop.produce(Self.strangers(4000))
            try await eventually("the end of the token's memory") {
                try await gateway.call("/v1/apps/braze-ios/token?after=0&wait=0", session: session).status != 200
            }
            let answer = try await gateway.report(
                Array(#"{"errorCode":22,"userId":"ann","n":1}"#.utf8), "braze-ios", session: session)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.body?["version"]?.integer ?? 0 > version)
            // It is known now, and coalesced as ever.
            let known = try await gateway.report(
                Array(#"{"errorCode":22,"userId":"ann","n":2}"#.utf8), "braze-ios", session: session)
            #expect(known.body?["version"]?.integer == answer.body?["version"]?.integer, "\(known.text)")
            await shop.close()
        }
    }
}
