import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// Workers whose reads of the control topic take half a minute, while all else is as fast as ever.
    @Suite(
        .timeLimit(.minutes(5)), .enabled(if: !Cluster.localPorts.isEmpty, Cluster.howToBeLocal)
    ) struct SlowControlTests {
        private static let delay = Duration.seconds(30)
        private static let waiting = "control-topic.unread"

        @Test func `a pause holds at a worker that starts, runs and starts again with a control topic that is slow`()
            async throws
        {
            let proxy = try await HoldingProxy(Cluster.localPorts)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await proxy.run() }
                var wishes = Shop.Wishes()
                wishes.brokers = proxy.addresses
                try await Shop.open(wishes) { shop in try await story(shop, proxy) }
                group.cancelAll()
                do { try await group.waitForAll() } catch is CancellationError {}
            }
        }

        private func story(_ shop: Shop, _ proxy: HoldingProxy) async throws {
            try await shop.command("apps", "pause", "braze-ios", "--reason", "the vendor moves")
            try await shop.command("lanes", "pause", "bulk", "--reason", "the night")
            try await produce(shop, "before")

            // One that starts: it consumes nothing before it knows.
            proxy.hold(shop.topics.control, for: Self.delay)
            var start = ContinuousClock.now
            let first = try shop.startProgram()
            try #require(await first.logged(Self.waiting), "\(first.lastLines)")
            #expect(!first.hasLogged("worker.consuming"))
            try await produce(shop, "meanwhile")
            #expect(try await answered(shop) == [])
            try #require(await first.logged("worker.consuming"), "\(first.lastLines)")
            #expect(ContinuousClock.now - start >= Self.delay && proxy.held > 0)
            // The live lane's other apps are answered, and nothing of what rests.
            try await wait(for: ["open-before", "open-meanwhile"], shop)
            try await waitForSuspended(first, atLeast: 2)
            #expect(try await answered(shop) == ["open-before", "open-meanwhile"])

            // One that runs: a topic that falls silent ends no pause.
            proxy.hold(shop.topics.control, for: Self.delay)
            start = .now
            try await produce(shop, "running")
            try await wait(for: ["open-before", "open-meanwhile", "open-running"], shop)
            try await waitForSuspended(first, atLeast: 3)
            let end = start + Self.delay
            try await eventually("the end of the delay") { .now >= end }
            #expect(proxy.held > 0)
            #expect(try await answered(shop).count == 3)

            // One that starts again, with the partitions of a predecessor that was killed.
            first.kill()
            await first.waitForEnd()
            proxy.hold(shop.topics.control, for: Self.delay)
            start = .now
            let second = try shop.startProgram()
            try #require(await second.logged(Self.waiting), "\(second.lastLines)")
            try await produce(shop, "again")
            try #require(await second.logged("worker.consuming"), "\(second.lastLines)")
            #expect(ContinuousClock.now - start >= Self.delay && proxy.held > 0)
            let rounds = ["before", "meanwhile", "running", "again"]
            try await wait(for: Set(rounds.map { "open-\($0)" }), shop)
            #expect(try await answered(shop).count == 4)

            // Once the pauses end, everything is answered, each once.
            try await shop.command("apps", "resume", "braze-ios")
            try await shop.command("lanes", "resume", "bulk")
            let all = ["open", "paused", "bulk"].flatMap { kind in rounds.map { "\(kind)-\($0)" } }
            try await wait(for: Set(all), shop)
            #expect(try await answered(shop) == all.sorted())
            second.terminate()
            await second.waitForEnd()
            #expect(second.status == 0, "\(second.lastLines)")
            report("a control topic 30 s behind: a paused app and a paused lane stayed paused at three workers")
        }

        // MARK: Steps

        /// Produces an event of an app that is paused, of one that is not, and one of the lane that rests.
        private func produce(_ shop: Shop, _ round: String) async throws {
            let open = #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#(round)"}"#
            try await shop.deliver([
                EventMix.report(
                    "braze-ios", #"{"code":22,"userId":"\#(round)"}"#, id: "paused-\(round)", topic: shop.topics.live,
                    key: round),
                EventMix.report("infobip-mobile", open, id: "open-\(round)", topic: shop.topics.live),
                EventMix.report(
                    "onesignal-shop", #"{"externalId":"\#(round)"}"#, id: "bulk-\(round)", topic: shop.topics.bulk),
            ])
        }

        /// The events that tokens answer, in the order of their names.
        private func answered(_ shop: Shop) async throws -> [String] {
            try await shop.tokens().compactMap(\.eventID).sorted()
        }

        private func wait(for events: Set<String>, _ shop: Shop) async throws {
            try await shop.waitForTokens(events.count)
            try await eventually("the events' tokens") { try await events.isSubset(of: answered(shop)) }
        }

        /// Waits until the worker put the given number of the paused app's events aside.
        private func waitForSuspended(_ worker: Program, atLeast count: Double) async throws {
            let scrape = try await AdminAPI(of: worker)
            try await eventually("\(count) suspended events") {
                try await scrape.total("remint_outcomes_total", [#"code="app_suspended""#]) >= count
            }
        }
    }
}
