import AsyncTestSupport
import Kafka
import WorkerTestSupport

/// Brokers of tests' own, a few at a time: each opens a hundred descriptors with its clients, and Foundation's
/// `Process` (Swift 6.3.1), which other tests use, crashes where a process has more than a thousand.
enum Brokers {
    private static let permits = Permits(4)

    static func with<Result>(
        count: Int = 1, _ body: (EmbeddedBroker) async throws -> Result
    ) async throws -> Result {
        try await permits.withPermit {
            let broker = try EmbeddedBroker(brokers: count, logger: silent)
            do {
                let result = try await body(broker)
                await broker.close()
                return result
            } catch {
                await broker.close()
                throw error
            }
        }
    }
}
