import Testing

@testable import Kafka

/// Tests of the moments at which librdkafka checks again for records to fetch.
@Suite struct FetchPromptTests {
    @Test func `a fetch is due once half of a partition's queue was taken, and only once`() {
        let prompt = FetchPrompt(["queued.min.messages": "100"])
        #expect(!prompt.isDue(after: 49, bytes: 0))
        #expect(prompt.isDue(after: 1, bytes: 0))
        // One is under way.
        #expect(!prompt.isDue(after: 1000, bytes: 0))
    }

    @Test func `a fetch is due once half of the queue's bytes was taken, however few the records`() {
        let prompt = FetchPrompt(["queued.max.messages.kbytes": "8192"])
        #expect(!prompt.isDue(after: 3, bytes: (4 << 20) - 100_000))
        #expect(prompt.isDue(after: 1, bytes: 100_000))
    }

    @Test(arguments: ["0", "-1", "text", "9223372036854775807"])
    func `a fetch becomes due with any configured size of the queue`(size: String) {
        #expect(FetchPrompt(["queued.max.messages.kbytes": size]).isDue(after: 1, bytes: 1 << 30))
    }

    @Test(arguments: ["0", "1", "-7", "text"]) func `a fetch becomes due with any configured length of the queue`(
        length: String
    ) {
        #expect(FetchPrompt(["queued.min.messages": length]).isDue(after: 50_000, bytes: 0))
    }
}
