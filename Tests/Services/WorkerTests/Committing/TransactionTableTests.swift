import Kafka
import Pipeline
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct TransactionTableTests {
    @Test(arguments: TransactionTable.onTheWay.indices)
    func `an error on the way ends as the table states, and the producer goes on`(_ index: Int) async throws {
        let (request, ends) = TransactionTable.onTheWay[index]
        #expect(Set(ends.keys) == Set(EmbeddedBroker.ResponseError.allCases), "every error has its row")
        try await CommitBench.with { bench in
            for (error, end) in ends {
                try await expect(end, of: bench, "\(request) answered with \(error)") {
                    try await bench.broker.inject(.errors(request, [error]))
                }
            }
        }
    }

    @Test func `an error of the abort ends as the table states, and the producer goes on`() async throws {
        let ends = TransactionTable.duringTheAbort
        #expect(Set(ends.keys) == Set(EmbeddedBroker.ResponseError.allCases), "every error has its row")
        try await CommitBench.with { bench in
            for (error, end) in ends {
                try await expect(end, of: bench, "the abort answered with \(error)") {
                    try await bench.broker.inject(.errors(.transactionOffsetCommit, [.illegalGeneration]))
                    try await bench.broker.inject(.errors(.endTransaction, [error]))
                }
            }
        }
    }

    @Test(arguments: [EmbeddedBroker.Request.addPartitionsToTransaction, .produce, .endTransaction])
    func `a coordinator that moves, and connections that drop, delay a commit and no more`(
        _ request: EmbeddedBroker.Request
    ) async throws {
        // The faults alone take two seconds, by the library's own timers.
        let long = ["session.timeout.ms: 60000", "transaction.timeout.ms: 20000"]
        try await CommitBench.with(kafka: long) { bench in
            let errors: [EmbeddedBroker.ResponseError] = [.notCoordinator, .connectionDropped]
            try await expect(.committed, of: bench, "\(request)") {
                try await bench.broker.inject(.errors(request, errors))
                try await bench.broker.inject(.errors(.findCoordinator, errors))
            }
        }
    }

    @Test func `a record after another producer took over has this as its error, and not only that it is fatal`()
        async throws
    {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let unit = try await events.unit([events.garbage()])
                try await bench.broker.inject(.errors(.produce, [.invalidProducerEpoch]))
                #expect(Ended(await committer.commit(unit)) == .fenced("_FENCED"))
                let records = Deliveries(unit, bench.configuration).records.map(\.record)
                let errors = await producer.deliver(records)
                #expect(errors.count == 1 && errors.allSatisfy { $0?.isFenced == true }, "\(errors)")
            }
        }
    }

    /// Commits once before, so that the producer knows its partitions as it does in a worker; then with the fault; then
    /// again and again, which must go well where the producer is of further use.
    private func expect(
        _ end: Ended, of bench: CommitBench, _ row: String, _ disturb: () async throws -> Void
    ) async throws {
        try await bench.withProducer { producer in
            var events = Events(bench.configuration)
            let committer = bench.committer(producer)
            let before = try await events.unit([events.garbage(), events.garbage()])
            #expect(Ended(await committer.commit(before)) == .committed, "\(row)")
            let unit = try await events.unit([events.garbage(), events.garbage(), events.garbage()])
            try await disturb()
            let result = await committer.commit(unit)
            #expect(Ended(result) == end, "\(row)")
            if case .blocked(let blockage) = result {
                let check = await committer.isCleared(blockage)
                #expect(check.isCleared, "\(row): \(check)")
            }
            // Both partitions of the topic get records of these.
            for number in 0..<6 {
                let again = Ended(await committer.commit(unit))
                #expect(again == .committed || end.isEnd && again.isEnd, "\(row), then \(number): \(again)")
            }
        }
    }
}
