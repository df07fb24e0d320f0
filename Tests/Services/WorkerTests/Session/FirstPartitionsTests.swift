import AsyncTestSupport
import Kafka
import Pipeline
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct FirstPartitionsTests {
    @Test func `a worker that reads none of its assigned partitions does not consume`() {
        let partitions = (0..<2).map { TopicPartition(topic: "t", partition: $0) }
        let assigned = SessionStateMachine.Rebalance.assigned(partitions)
        #expect(assigned.isBeginning(with: 2))
        #expect(!assigned.isBeginning(with: 0), "the worker stops, or the assignment is lost")
        #expect(SessionStateMachine.Rebalance.assigned([]).isBeginning(with: 0), "others have all partitions")
        #expect(!SessionStateMachine.Rebalance.revoked([]).isBeginning(with: 0))
    }

    @Test func `the worker consumes, and is ready, once it has its first live partitions`() async throws {
        try await RunningWorker.with { worker in
            await worker.log.line(event: "worker.consuming")
            let lines = worker.log.lines
            let begin = try #require(lines.firstIndex { $0.event == "worker.consuming" })
            let assignment = try #require(
                lines.firstIndex {
                    $0.event == "partitions.assigned" && $0.metadata["remint.lane"] == "live"
                })
            #expect(assignment < begin, "\(lines[...begin])")
            #expect(lines[assignment].metadata["kafka.partitions"] == "remint.invalidations/0-1")
            #expect(worker.status.problems[.worker] == nil)
        }
    }

    @Test func `a worker is ready without a partition if its group has more workers than partitions`() async throws {
        // The topics have two partitions. The broker waits for members before it assigns partitions for the first time.
        try await RunningWorker.with { first in
            try await first.joined { second in
                try await second.joined { third in
                    for worker in [first, second, third] {
                        await worker.log.line(event: "worker.consuming")
                        #expect(worker.status.problems[.worker] == nil)
                    }
                }
            }
        }
    }
}
