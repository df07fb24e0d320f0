import AsyncTestSupport
import Testing

extension BrokerTests {
    /// A broker that is killed under load and comes back.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: Cluster.canRestart, Cluster.howToRestart))
    struct BrokerRestartTests {
        private static let rounds = max(1, Cluster.rounds / 4)

        @Test func `killing and restarting the broker under load loses and doubles nothing`() async throws {
            try await Stage.play(workers: 2) { stage in
                var random = SeededGenerator(seed: Cluster.seed)
                for round in 0..<Self.rounds {
                    let start = ContinuousClock.now
                    let moment = random.moment(0...3000)
                    async let feeding: Void = stage.feed.send(Cluster.events / 20, over: .seconds(6))
                    try await pass(moment)
                    try await Cluster.restartBroker()
                    let restarted = ContinuousClock.now
                    try await feeding
                    try await stage.ledger.waitUntilAnswered(limit: .seconds(180))
                    report(
                        "round \(round): back after \(restarted - start - moment), "
                            + "everything answered \(ContinuousClock.now - restarted) later")
                    #expect(stage.ledger.repeats == 0, "round \(round)")
                }
                let audit = try await stage.settle()
                audit.expectExactlyOnce()
                let comebacks = stage.workers.reduce(0) { $0 + $1.comebacks }
                report(
                    "\(Self.rounds) broker restarts, \(audit.events) events; workers gave up \(comebacks) times; "
                        + "\(audit.aborted) outcomes were aborted and are not visible")
            }
        }
    }
}
