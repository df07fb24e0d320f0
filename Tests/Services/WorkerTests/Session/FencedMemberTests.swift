import AsyncTestSupport
import Kafka
import Testing
import Wiring

@testable import Worker

/// A worker whose place in a group another live worker took.
@Suite(.timeLimit(.minutes(5))) struct FencedMemberTests {
    @Test func `a worker that is fenced from its group stops and logs how to fix it`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.broker.inject(.memberFenced)
            let result = await worker.result
            let error = #expect(throws: WorkerError.self) { try result.get() }
            let text = error?.description ?? ""
            for words in ["another live worker", worker.status.name, "give each its own kafka.instance"] {
                #expect(text.contains(words), "\(text)")
            }
            #expect(!worker.log.lines.contains { $0.event == "kafka-clients.replaced" })
        }
    }
}
