import Kafka
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct OpenClientTests {
    private struct Failure: Error {}

    /// A client that notes each closing, with its limit and whether the closing task was canceled.
    private final class NotedClient: KafkaClient {
        let closings = Mutex<[(limit: Duration, isCancelled: Bool)]>([])

        func close(within limit: Duration) async -> Bool {
            let isCancelled = Task.isCancelled
            closings.withLock { $0.append((limit, isCancelled)) }
            return true
        }

        var limits: [Duration] { closings.withLock { $0.map(\.limit) } }
    }

    @Test func `a client is closed once after its work, within the limit`() async {
        let client = NotedClient()
        let result = await client.whileOpen(closingWithin: .seconds(10)) { client in
            #expect(client.limits.isEmpty)
            return 1
        }
        #expect(result == 1)
        #expect(client.limits == [.seconds(10)])
    }

    @Test func `a client is closed once after an error, within a second`() async {
        let client = NotedClient()
        await #expect(throws: Failure.self) {
            try await client.whileOpen(closingWithin: .seconds(10)) { _ in throw Failure() }
        }
        #expect(client.limits == [.seconds(1)])
        await #expect(throws: Failure.self) {
            try await client.whileOpen(closingWithin: .zero) { _ in throw Failure() }
        }
        #expect(client.limits == [.seconds(1), .zero])
    }

    @Test func `a client is closed when its task is canceled`() async {
        let client = NotedClient()
        let began = AsyncStream<Void>.makeStream()
        let task = Task {
            try await client.whileOpen { _ in
                began.continuation.finish()
                // Nobody writes to the stream: it ends with the cancellation.
                let silence = AsyncStream<Void>.makeStream()
                for await _ in silence.stream {}
                try Task.checkCancellation()
            }
        }
        for await _ in began.stream {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(client.closings.withLock { $0.map(\.isCancelled) } == [true])
    }

    @Test func `a reader and a producer refuse questions after their work`() async throws {
        try await withBroker(topics: ["t": 1]) { broker in
            let producer = try KafkaProducer(producerProperties(broker), logger: silent)
            let errors = await producer.whileOpen(closingWithin: patience) { await $0.deliver(numbered(1)) }
            #expect(errors == [nil])
            await #expect(throws: KafkaError.self) { try await producer.metadata(of: "t", within: patience) }
            let reader = try KafkaConsumer(
                consumerProperties(broker, group: "g"), reading: [], logger: silent)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await reader.whileOpen(closingWithin: patience) { reader throws(KafkaError) in
                    try await reader.metadata(of: "t", within: patience).partitionCount
                }
            }
            // A question to the brokers cannot be canceled; the closing after it neither.
            #expect(try await task.value == 1)
            await #expect(throws: KafkaError.self) { try await reader.metadata(of: "t", within: patience) }
        }
    }
}
