import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import OneSignalAdapter
import StubServer
import Testing

extension BrokerTests {
    /// A vendor that may be asked once a second keeps its own events waiting and nobody else's.
    @Suite(.timeLimit(.minutes(5))) struct LookupLatencyTests {
        private static let live = (count: 1000, length: Duration.seconds(20))
        private static let users = 1000
        private static let appID = "0f0f0f0f-1111-2222-3333-444444444444"
        /// Each compares what it measured itself; a machine has better and worse minutes.
        private static let rounds = Scale.isLong ? 5 : 3

        @Test func `a thousand users at one request a second leave the other apps' latency as it is`() async throws {
            let adapter = try OneSignalAdapter(settings: .init(appID: Self.appID, lookupAuthorization: .key))
            let stub = try #require(adapter.stub(StubSetting(authorization: "Key of-the-app")))
            var ratios: [Double] = []
            for _ in 0..<Self.rounds {
                let server = try await StubServer.start(
                    stub, now: { UnixTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) })
                server.misbehaviour = .latency(.milliseconds(150))
                ratios.append(try await round(server))
                await server.stop()
            }
            ratios.sort()
            report("p99 beside the vendor's users to p99 without, \(Self.rounds) rounds: \(ratios)")
            #expect(ratios[Self.rounds / 2] < 1.5)
        }

        /// - Returns: the other apps' p99 beside the vendor's users, in parts of their p99 without.
        private func round(_ server: StubServer) async throws -> Double {
            var wishes = Shop.Wishes()
            wishes.apps = [
                #""app_id": "\#(Self.appID)""#: #""lookup_auth": "key", "app_id": "\#(Self.appID)""#,
                "    key: onesignal-shop\n":
                    "    key: onesignal-shop\n    lookup: { mode: verify, endpoint: \"\(server.url)\", key: of-the-app }\n",
            ]
            return try await Stage.play(workers: 1, wishes) { stage in
                try await stage.feed.send(100, over: .seconds(2))
                try await stage.ledger.waitUntilAnswered()
                let alone = try await stage.latencies(of: Self.live)
                let errors = try await stage.feed.deliver(
                    (0..<Self.users).map { number in
                        EventMix.report(
                            "onesignal-shop", #"{"externalId":"user-\#(number)"}"#, id: "asked-\(number)",
                            topic: stage.shop.topics.live)
                    })
                #expect(errors.allSatisfy { $0 == nil })
                let beside = try await stage.latencies(of: Self.live)
                let arrivals = server.requests.map(\.instant)
                report("alone: \(alone); beside \(Self.users) users: \(beside); \(arrivals.count) requests")
                #expect(arrivals.count >= 10)
                #expect(zip(arrivals, arrivals.dropFirst()).allSatisfy { $1 - $0 >= .seconds(1) })
                await stage.retire()
                return beside.p99 / alone.p99
            }
        }
    }
}
