import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// A gateway may lag behind the one that served a device before.
    @Suite(.timeLimit(.minutes(5))) struct PickupLagTests {
        private static let path = "/v1/apps/braze-ios/token"

        @Test func `a device that shows a newer version gets no older token`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            let first = try await gateway.acceptedCall(Self.path + "?wait=30", session: session)
            let version = try #require(first.body?["version"]?.integer, "\(first.text)")
            let same = try await gateway.call(Self.path, session: session, headers: ["If-None-Match": "\"\(version)\""])
            #expect(same.status == 304, "\(same.text)")
            // No worker's clock is a day ahead: such a version is nobody's, and its caller is served.
            let impossible = version + 86_400_000_000
            let served = try await gateway.call(
                Self.path, session: session, headers: ["If-None-Match": "\"\(impossible)\""])
            #expect(served.body?["version"]?.integer == version, "\(served.text)")

            // As if another gateway had handed out the next version: one that no worker knows is followed by a newer one.
            let shown = version + 1
            let held = try await gateway.acceptedCall(
                Self.path + "?wait=0", session: session, headers: ["If-None-Match": "\"\(shown)\""])
            if held.status == 200 {
                // The brokers accepted the ask after the first call for it had ended, and a worker has answered the ask.
                #expect(held.body?["version"]?.integer ?? 0 > shown, "\(held.text)")
            } else {
                #expect(held.status == 202, "\(held.text)")
                #expect(held.body?["after"]?.integer == version, "\(held.text)")
            }
            let next = try await gateway.acceptedCall(
                Self.path + "?wait=30", session: session, headers: ["If-None-Match": "\"5\", W/\"\(shown)\""])
            #expect(next.status == 200, "\(next.text)")
            let newer = try #require(next.body?["version"]?.integer, "\(next.text)")
            #expect(newer > shown)
            let path = Self.path + "?after=0&wait=0"
            let nothing = try await gateway.call(
                path, session: session, headers: ["If-None-Match": "\"\(newer + 1)\""])
            // A second ask, of a machine that takes seconds for the first one, may have brought a newer token still.
            #expect(
                nothing.status == 204 || nothing.body?["version"]?.integer ?? 0 > newer, "\(nothing.text)")

            // A stream goes on from the version that its device has.
            let stream = try gateway.stream("braze-ios", session, "Last-Event-ID: \(newer + 1)")
            try #require(await stream.wrote("event: token"), "\(stream.errorText)")
            #expect(stream.errorText.contains(#"data: {"after":\#(newer + 1)}"#), "\(stream.errorText)")
            #expect(!stream.errorText.contains("id: \(newer)\n"), "\(stream.errorText)")

            worker.terminate()
            await worker.waitForEnd()
            // Nobody mints a newer one now.
            let latest = try await gateway.call(Self.path, session: session)
            let last = try #require(latest.body?["version"]?.integer, "\(latest.text)")
            let late = try await gateway.call(
                Self.path + "?wait=1", session: session, headers: ["If-None-Match": "\"\(last + 1)\""])
            #expect(late.status == 503, "\(late.text)")
            #expect(late.headers["retry-after"] != nil)
            await shop.close()
        }

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
