import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct TopicListingTests {
    @Test func `the list of topics has partitions and copies, and creates no topic`() async throws {
        try await withProducer(topics: ["a": 3, "b": 1]) { _, producer in
            for _ in 0..<2 {
                let found = try await producer.topics(within: patience)
                #expect(
                    found.filter { ["a", "b"].contains($0.name) }.sorted { $0.name < $1.name }.map(\.partitionCount)
                        == [3, 1])
                #expect(found.allSatisfy { $0.replication == 1 && $0.error == nil })
                #expect(!found.contains { $0.name == "c" })
            }
            #expect(try await producer.settings(of: [], within: patience).isEmpty)
        }
    }

    @Test func `the embedded broker has no topic settings, which is an error within the limit`() async throws {
        try await withProducer(topics: ["a": 1]) { _, producer in
            let error = await #expect(throws: KafkaError.self) {
                _ = try await producer.settings(of: ["a"], within: .milliseconds(300))
            }
            #expect(error?.code == .timedOut)
        }
    }
}
