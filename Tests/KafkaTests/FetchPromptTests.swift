import Testing

@testable import Kafka

/// When librdkafka is made to look again at what it could fetch.
@Suite struct FetchPromptTests {
    @Test func `is due after half of a partition's queue was taken, once`() {
        let prompt = FetchPrompt(["queued.min.messages": "100"])
        #expect(!prompt.isDue(after: 49))
        #expect(prompt.isDue(after: 1))
        // One is under way.
        #expect(!prompt.isDue(after: 1000))
    }

    @Test(arguments: ["0", "1", "-7", "text"]) func `takes any length of the queue`(length: String) {
        #expect(FetchPrompt(["queued.min.messages": length]).isDue(after: 50_000))
    }
}
