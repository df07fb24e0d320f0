import AsyncTestSupport
import Glibc
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// A worker that stands still for longer than its group waits for it, and then goes on as if nothing had happened.
    @Suite(.timeLimit(.minutes(5))) struct HungWorkerTests {
        /// The moment at which the worker stands still.
        enum Moment: String, CaseIterable, CustomTestStringConvertible {
            case withEventsInWork
            case withATransactionOpen

            var testDescription: String { rawValue }
        }

        /// The log lines of a worker whose producer was fenced, or whose partitions are gone.
        private static let waysToLearn = [
            "transaction.aborted", "partitions.revoked", "kafka-clients.replaced", "worker.failed",
        ]

        @Test(arguments: Moment.allCases)
        func `events a worker held while it hung are answered once, by the other worker`(_ moment: Moment) async throws
        {
            try await Stage.play(workers: 2) { stage in
                let sleeper = stage.workers[0]
                let hung = try await hang(sleeper, moment, stage)
                let linesBefore = hung.errorText.count
                // Everything from before and a little more: the other one has all partitions when it is answered.
                try await stage.feed.send(500, over: .seconds(2))
                try await stage.ledger.waitUntilAnswered()
                let before = stage.ledger.answered
                // It wakes up into load, so that it has something to do with its old partitions at once.
                async let feeding: Void = stage.feed.send(3000, over: .seconds(6))
                hung.send(SIGCONT)
                try await feeding
                try await stage.ledger.waitUntilAnswered()
                report("\(moment): \(before) answered while it hung, \(stage.ledger.answered) in all")
                let audit = try await stage.settle()
                audit.expectExactlyOnce()
                let later = hung.errorText.dropFirst(linesBefore)
                let events = Self.waysToLearn.filter { !later.logLines($0).isEmpty }
                #expect(!events.isEmpty, "it never learned that its partitions are someone else's")
                report(
                    "\(moment): \(audit.events) events; \(audit.aborted) outcomes were aborted and are not visible; "
                        + "it logged: \(events.joined(separator: ", ")); gave up \(sleeper.comebacks) times")
            }
        }

        /// Lets a worker under load stand still at this moment.
        private func hang(_ worker: Worker, _ moment: Moment, _ stage: Stage) async throws -> Program {
            var random = SeededGenerator(seed: Cluster.seed)
            for _ in 0..<200 {
                try await worker.waitForPartitions()
                let program = worker.program
                try await stage.feed.send(2000)
                try await pass(random.moment(5...150))
                program.send(SIGSTOP)
                let isThere =
                    switch moment {
                    case .withEventsInWork: !stage.ledger.open.isEmpty
                    case .withATransactionOpen: try await hasOpenTransaction(stage)
                    }
                if isThere { return program }
                program.send(SIGCONT)
                try await stage.ledger.waitUntilAnswered()
            }
            throw Missed()
        }

        /// Whether some transaction stays open while only one of the workers runs, whose own ones last milliseconds.
        private func hasOpenTransaction(_ stage: Stage) async throws -> Bool {
            let watch = try StabilityWatch(stage.shop.partitions(of: [stage.shop.topics.tokens]))
            let held = try await watch.partitionsHeldBack(looks: 5)
            await watch.close()
            return !held.isEmpty
        }

        private struct Missed: Error {}
    }
}
