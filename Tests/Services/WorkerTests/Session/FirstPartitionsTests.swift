import AsyncTestSupport
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(10))) struct FirstPartitionsTests {
    @Test func `the worker consumes, and is ready, once it has its first live partitions`() async throws {
        try await RunningWorker.with { worker in
            await worker.log.line("the worker consumes")
            let lines = worker.log.lines
            let begin = try #require(lines.firstIndex { $0.message == "the worker consumes" })
            let assigned = lines[..<begin].filter { $0.message == "partitions were assigned" }
            let live = try #require(assigned.first { $0.metadata["remint.lane"] == "live" })
            #expect(live.metadata["kafka.partitions"]?.hasSuffix("/0-1") == true, "\(live.metadata)")
            #expect(worker.status.problems[.worker] == nil)
        }
    }
}
