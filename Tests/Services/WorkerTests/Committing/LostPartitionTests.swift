import Kafka
import Pipeline
import Testing
import WorkerTestSupport

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct LostPartitionTests {
    /// An offset that is sent all the same would be answered with this, which is another end.
    private func setTrap(_ bench: CommitBench) async throws {
        try await bench.broker.inject(.errors(.addOffsetsToTransaction, [.producerFenced]))
        try await bench.broker.inject(.errors(.addPartitionsToTransaction, [.producerFenced]))
    }

    @Test func `nothing is sent for an assignment that was lost`() async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let unit = try await events.unit([events.garbage()])
                try await bench.lose(.live)
                try await setTrap(bench)
                #expect(Ended(await bench.committer(producer).commit(unit)) == .aborted("_ASSIGNMENT_LOST"))
            }
        }
    }

    @Test func `nothing is sent for a partition that is another member's, or before the group was joined`()
        async throws
    {
        try await CommitBench.with(joining: [.live]) { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let foreign = try await events.unit([events.garbage(), events.garbage(partition: 7)])
                let early = try await events.unit([events.garbage(lane: .bulk)])
                let both = try await events.unit([events.garbage(), events.garbage(lane: .bulk)])
                try await setTrap(bench)
                for unit in [foreign, early, both] {
                    #expect(Ended(await committer.commit(unit)) == .aborted("_UNKNOWN_PARTITION"))
                }
            }
        }
    }

    @Test func `lanes commit together, and none of them when one was lost`() async throws {
        try await CommitBench.with(joining: Lane.allCases) { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let unit = try await events.unit([
                    events.challenge(1), events.garbage(lane: .retries), events.challenge(2, lane: .bulk),
                ])
                #expect(Lane.allCases.allSatisfy { !unit.offsets[$0].isEmpty })
                #expect(Ended(await committer.commit(unit)) == .committed)
                // A closed consumer's assignment counts as lost.
                #expect(await bench.consumers[.bulk].close(within: patience))
                #expect(Ended(await committer.commit(unit)) == .aborted("_ASSIGNMENT_LOST"))
                let rest = try await events.unit([events.challenge(1), events.garbage(lane: .retries)])
                #expect(Ended(await committer.commit(rest)) == .committed)
            }
        }
    }
}
