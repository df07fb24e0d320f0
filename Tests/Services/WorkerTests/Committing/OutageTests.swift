import AsyncTestSupport
import Kafka
import Logging
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Pipeline
@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct OutageTests {
    @Test func `a commit outlives a broker that goes and comes back`() async throws {
        let log = RecordingLog()
        let long = ["session.timeout.ms: 60000", "transaction.timeout.ms: 20000"]
        try await CommitBench.with(kafka: long) { bench in
            try await bench.withProducer(logger: log.logger()) { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let unit = try await events.unit([events.challenge(1), events.garbage()])
                #expect(Ended(await committer.commit(unit)) == .committed)
                try await bench.broker.inject(.brokerDown(1))
                async let result = committer.commit(unit)
                _ = await log.line { $0.metadata["kafka.text"]?.contains("Connect to") ?? false }
                try await bench.broker.inject(.brokerUp(1))
                #expect(Ended(await result) == .committed)
                #expect(Ended(await committer.commit(unit)) == .committed)
            }
        }
    }

    /// Such as a library that got stuck: it answers each call for ever that the call may be repeated.
    @Test func `a transaction that never ends is given up, for new clients to settle it`() async throws {
        try await CommitBench.with(kafka: ["session.timeout.ms: 60000", "transaction.timeout.ms: 20000"]) { bench in
            try await bench.withProducer { producer in
                var committer = bench.committer(producer)
                committer.callLimit = .milliseconds(200)
                let partition = TopicPartition(topic: bench.configuration.topics.invalidations, partition: 0)
                let unit = CommitUnit(batches: [], offsets: PerLane { $0 == .live ? [partition: 1] : [:] })
                try await bench.broker.inject(.brokerDown(1))
                let end = Ended(await committer.commit(unit))
                // The library's word depends on whether it tries to connect at that moment.
                #expect([.unusable("_TIMED_OUT"), .unusable("_TRANSPORT")].contains(end), "\(end)")
            }
        }
    }

    /// Records that waited too long are no sign of a topic's, but it is not known what they waited for.
    @Test func `an outage that outlives the records is over when the broker is back`() async throws {
        let log = RecordingLog()
        try await CommitBench.with(kafka: ["session.timeout.ms: 20000", "transaction.timeout.ms: 8000"]) { bench in
            try await bench.withProducer(logger: log.logger(.trace)) { producer in
                var events = Events(bench.configuration)
                var committer = bench.committer(producer)
                committer.callLimit = .seconds(5)
                let unit = try await events.unit([events.challenge(1), events.garbage()])
                #expect(Ended(await committer.commit(unit)) == .committed)
                try await bench.broker.inject(.brokerDown(1))
                async let pending = committer.commit(unit)
                // The transaction is to be aborted, which waits for the broker.
                _ = await log.line { $0.metadata["kafka.text"]?.contains("timed out") ?? false }
                try await bench.broker.inject(.brokerUp(1))
                let result = await pending
                // A library that got stuck in the outage is given up in time, and new clients settle the transaction.
                if case .unusable = Ended(result) { return }
                #expect(!Ended(result).isEnd, "\(Ended(result))")
                if case .blocked(let blockage) = result { #expect(await committer.isCleared(blockage).isCleared) }
                #expect(Ended(await committer.commit(unit)) == .committed)
            }
        }
    }
}
