import Pipeline
import Testing

@testable import Worker

/// Tests of the events that join a transaction while its records are in flight.
@Suite(.timeLimit(.minutes(5))) struct AdditionsTests {
    @Test func `additions are taken in their order until none is left`() async throws {
        try await CommitBench.with { bench in
            var events = Events(bench.configuration)
            let first = try await events.unit([events.garbage()])
            let second = try await events.unit([events.garbage(), events.garbage()])
            let third = try await events.unit([events.garbage()])
            let additions = Additions()
            #expect(additions.offer(first))
            #expect(additions.offer(second))
            #expect(additions.takeOrClose()?.ends.map(\.record.origin.offset) == [0, 1, 2])
            #expect(additions.offer(third))
            #expect(additions.takeOrClose()?.offsets[.live] == third.offsets[.live])
            #expect(additions.takeOrClose() == nil)
            #expect(!additions.offer(third), "it is closed")
            #expect(additions.takeOrClose() == nil)
        }
    }

    /// Returns the committed unit; nothing is added afterwards.
    private func commit(
        _ unit: CommitUnit, with addition: CommitUnit, by committer: some Committer
    ) async throws -> CommitUnit {
        let additions = Additions()
        #expect(additions.offer(addition))
        let result = await committer.commit(unit, additions)
        guard case .committed(let committed) = result else {
            Issue.record("\(Ended(result))")
            throw CancellationError()
        }
        #expect(!additions.offer(addition))
        return committed
    }

    @Test func `additions are committed with the transaction`() async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let unit = try await events.unit([events.challenge(1), events.garbage()])
                let addition = try await events.unit([events.challenge(2)])
                let committed = try await commit(unit, with: addition, by: bench.committer(producer))
                #expect(committed.ends.map(\.record.origin.offset) == [0, 1, 2])
                #expect(committed.offsets[.live] == addition.offsets[.live])
            }
        }
    }

    @Test func `an addition's record that a topic refuses as too large is made smaller`() async throws {
        try await CommitBench.with(kafka: ["message.max.bytes: 2000"]) { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let unit = try await events.unit([events.garbage(), events.garbage()])
                let addition = try await events.unit([events.garbage(), events.garbage(bytes: 5000)])
                let committed = try await commit(unit, with: addition, by: bench.committer(producer))
                #expect(committed.ends.map { $0.settlement.output?.value == nil } == [false, false, false, true])
            }
        }
    }

    @Test func `an addition of a foreign partition aborts its transaction, and nothing more`() async throws {
        try await CommitBench.with(joining: [.live]) { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let unit = try await events.unit([events.garbage()])
                let foreign = try await events.unit([events.garbage(partition: 7)])
                let additions = Additions()
                #expect(additions.offer(foreign))
                let committer = bench.committer(producer)
                #expect(Ended(await committer.commit(unit, additions)) == .aborted("_UNKNOWN_PARTITION"))
                #expect(Ended(await committer.commit(unit)) == .committed)
            }
        }
    }
}
