import AsyncTestSupport
import Kafka
import Testing
import Wiring

@testable import Worker

/// A worker that the brokers fence.
@Suite(.timeLimit(.minutes(5))) struct FencedMemberTests {
    /// A broker that restarts reports that of a member's own former self.
    @Test func `a worker that is fenced once goes on with new clients`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.broker.inject(.memberFenced)
            _ = await worker.log.line { $0.event == "kafka-clients.replaced" }
            try await worker.produce(0..<3)
            try await eventually("every end") { worker.ends.events.count == 3 }
        }
    }

    @Test func `a fence is followed by a search for another worker only if it comes soon after another one`() {
        var twins = TwinSearch()
        let steps = [0, 60, 119, 120, 200].map { twins.fenced(at: .seconds($0)) }
        #expect(steps == [.again, .again, .look, .look, .again])
    }

    @Test func `a worker ends for a member with its name alone, or for fences without end where no member is shown`() {
        var twins = TwinSearch()
        func member(_ id: String) -> ConsumerGroup.Member {
            ConsumerGroup.Member(id: id, clientID: "remint", host: "/10.0.0.7", partitions: [])
        }
        func end(_ members: [ConsumerGroup.Member]?) -> String? {
            twins.end(members, name: "w-live-0a", worker: "w")?.description
        }
        for second in 0..<4 { _ = twins.fenced(at: .seconds(second)) }
        #expect(
            end(nil) == nil && end([]) == nil && end([member("w-live-0b-5f"), member("rdkafka-w-live-0a-1")]) == nil)
        #expect(
            end([member("w-live-0a-5f")])?.contains("another live worker, at /10.0.0.7, has this one's name, w") == true
        )
        _ = twins.fenced(at: .seconds(4))
        #expect(end([]) == nil && end(nil)?.hasPrefix("fenced 5 times in a row") == true)
    }
}
