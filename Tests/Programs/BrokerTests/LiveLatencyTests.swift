import AsyncTestSupport
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// Rotations and batch jobs do not keep users waiting.
    @Suite(.timeLimit(.minutes(5))) struct LiveLatencyTests {
        /// Enough to outlast the live events of a round.
        private static let backlog = Cluster.events * 2
        private static let live = (count: 500, length: Duration.seconds(10))
        /// Each compares what it measured itself; a machine has better and worse minutes, and five events decide a p99.
        private static let rounds = Scale.isLong ? 5 : 3

        @Test func `a backlog of bulk events does not double what live users wait`() async throws {
            try await Stage.play(workers: 1) { stage in
                // Connections, first batches, and what a broker makes of its code under its first load: what happens once.
                try await stage.feed.send(100, over: .seconds(2))
                try await sendBacklog(0, stage)
                try await stage.ledger.wait(untilAnswered: 100 + Self.backlog)
                var diary = Diary(try await AdminAPI(of: stage.workers[0].program))
                var ratios: [Double] = []
                for number in 1...Self.rounds { ratios.append(try await round(number, stage, &diary)) }
                ratios.sort()
                report("p99 beside a backlog to p99 alone, \(Self.rounds) rounds: \(ratios)")
                #expect(ratios[Self.rounds / 2] < 2)
                await stage.retire()
            }
        }

        /// - Returns: live events' p99 beside a backlog, in parts of their p99 alone.
        private func round(_ number: Int, _ stage: Stage, _ diary: inout Diary) async throws -> Double {
            _ = try await diary.page()
            let alone = try await stage.latencies(of: Self.live)
            report("live alone: \(alone); \(try await diary.page())")
            let before = stage.ledger.answered
            try await sendBacklog(number, stage)
            _ = try await diary.page()
            let visible = stage.ledger.answered
            let beside = try await stage.latencies(of: Self.live)
            let drained = stage.ledger.answered - visible - Self.live.count
            report(
                "live beside \(Self.backlog) bulk events: \(beside); \(drained) bulk events answered "
                    + "meanwhile; \(try await diary.page())")
            let all = before + Self.backlog + Self.live.count
            #expect(stage.ledger.answered < all, "the backlog is too small: set REMINT_TEST_BROKER_EVENTS higher")
            #expect(drained > 0, "the backlog drains")
            try await stage.ledger.wait(untilAnswered: all)
            return beside.p99 / alone.p99
        }

        /// The worker's own measurements, in milliseconds; they show the slow part if the figures are not good.
        private struct Diary {
            private static let histograms = ["transaction_duration", "batch_duration"]
            let scrape: AdminAPI
            private var before: [String: (sum: Double, count: Double)] = [:]

            init(_ scrape: AdminAPI) { self.scrape = scrape }

            mutating func page() async throws -> String {
                var words: [String] = []
                for name in Self.histograms {
                    let sum = try await scrape.total("remint_\(name)_seconds_sum")
                    let count = try await scrape.total("remint_\(name)_seconds_count")
                    let new = count - (before[name]?.count ?? 0)
                    let mean = (sum - (before[name]?.sum ?? 0)) / max(1, new)
                    before[name] = (sum, count)
                    words.append("\(name): \(Int(new)) of \((mean * 10_000).rounded() / 10) ms in the mean")
                }
                return words.joined(separator: ", ")
            }
        }

        /// Events of the bulk lane as a batch job writes them, on their subjects' keys, all of them written before the worker can have answered many.
        private func sendBacklog(_ number: Int, _ stage: Stage) async throws {
            for first in stride(from: 0, to: Self.backlog, by: 10_000) {
                let records = (first..<min(first + 10_000, Self.backlog)).map { place in
                    let user = "bulk-\(number)-\(place)"
                    let event = #"{"app":"braze-ios","reissue":{"user":"\#(user)"},"id":"\#(user)"}"#
                    return ProducerRecord(
                        topic: stage.shop.topics.bulk, key: Array("braze-ios/\(user)".utf8), value: Array(event.utf8))
                }
                let errors = try await stage.feed.deliver(records)
                #expect(errors.allSatisfy { $0 == nil })
            }
        }
    }
}
