import AsyncTestSupport
import Glibc
import Testing

extension BrokerTests {
    /// Workers that come and go as they do in a rollout.
    @Suite(.timeLimit(.minutes(5))) struct JoiningAndLeavingTests {
        /// `worker.shutdown_deadline`.
        private static let deadline = Duration.seconds(25)
        private static let rounds = max(1, Cluster.rounds / 2)

        /// At least once an event is answered twice only where a worker or its broker fails: who goes in order leaves nothing
        /// to be repeated.
        @Test(arguments: ["exactly_once", "at_least_once"])
        func `workers that leave and join under load lose and double nothing, and leave in time`(
            _ delivery: String
        ) async throws {
            try await Stage.play(workers: 2, Shop.Wishes(delivery: delivery)) { stage in
                var random = SeededGenerator(seed: Cluster.seed)
                var longest = Duration.zero
                let start = ContinuousClock.now
                for round in 0..<Self.rounds {
                    let moment = random.moment(500...3000)
                    let worker = stage.workers[round % 2]
                    async let feeding: Void = stage.feed.send(Cluster.events / 50, over: .seconds(4))
                    try await pass(moment)
                    let took = await worker.end(by: SIGTERM, code: 0)
                    longest = max(longest, took)
                    #expect(took < Self.deadline, "round \(round)")
                    // The next round does not wait until this one's worker has joined.
                    try await feeding
                }
                try await stage.ledger.waitUntilAnswered()
                let rate = Double(stage.ledger.answered) / ((.now - start) / .seconds(1))
                let audit = try await stage.settle()
                audit.expectExactlyOnce()
                report(
                    "\(Self.rounds) workers left and joined, \(audit.events) events, \(Int(rate))/s; "
                        + "the longest goodbye took \(longest)")
            }
        }
    }
}
