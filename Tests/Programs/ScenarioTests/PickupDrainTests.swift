import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// A gateway that is stopping, and the devices that it has at that moment.
    @Suite(.timeLimit(.minutes(5))) struct PickupDrainTests {
        @Test func `a stopping gateway is first not ready, serves on, and then sends its devices away`()
            async throws
        {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop, drain: Scale.isLong ? "20s" : "10s")
            let session = try gateway.session("ann")
            let path = "/v1/apps/onesignal-shop/token"
            let first = try await gateway.call(path, session: session)
            let version = try #require(first.body?["version"]?.integer)
            let stream = try gateway.stream("onesignal-shop", session)
            try #require(await stream.wrote("event: token"), "\(stream.errorText)")
            async let waiting = gateway.call("\(path)?after=\(version)&wait=30", session: session)

            gateway.program.terminate()
            try #require(await gateway.program.logged("gateway.draining"))
            let unready = try await gateway.call("/health/ready")
            #expect(unready.status == 503, "\(unready.text)")
            #expect(unready.dependency("gateway") == "the gateway is about to stop")
            #expect(try await gateway.call("/health/live").status == 200)
            let served = try await gateway.call(path, session: try gateway.session("ben"))
            #expect(served.status == 200, "\(served.text)")
            #expect(served.headers["connection"]?.lowercased() == "close")
            #expect(!stream.errorText.contains("event: reconnect"), "not before the grace period is over")

            let ended = try await waiting
            #expect(ended.status == 503 && ended.text("code") == "draining", "\(ended.text)")
            #expect(ended.headers["retry-after"] != nil)
            await stream.waitForEnd()
            #expect(stream.status == 0, "\(stream.errorText)")
            #expect(
                stream.errorText.contains(/retry: [0-9]+\nevent: reconnect\ndata: \{\}\n\n$/), "\(stream.errorText)")
            await shop.close(expecting: 0)
        }
    }
}
