import Kafka
import ProgramTestSupport
import Testing

/// A shop with its workers, a feed and someone who watches what becomes visible.
struct Stage: Sendable {
    let shop: Shop
    let workers: [Worker]
    let ledger: Ledger
    let feed: Feed

    /// Opens a shop, lets `story` happen in it and takes everything away, however the story ends.
    static func play<Result: Sendable>(
        workers count: Int, _ wishes: Shop.Wishes = Shop.Wishes(), _ story: @Sendable (Stage) async throws -> Result
    ) async throws -> Result {
        report("seed \(Cluster.seed)")
        let shop = try await Shop(wishes)
        let result: Result
        do {
            let ledger = Ledger()
            let feed = try Feed(shop.topics.live, ledger)
            let workers = try (0..<count).map { _ in try Worker(in: shop) }
            let stage = Stage(shop: shop, workers: workers, ledger: ledger, feed: feed)
            result = try await withThrowingTaskGroup(of: Void.self) { group in
                let reader = LedgerReader(partitions: shop.partitions(of: shop.topics.outcomes), ledger: ledger)
                group.addTask { try await reader.run() }
                for worker in workers { group.addTask { await worker.run() } }
                defer {
                    for worker in workers { worker.abandon() }
                    group.cancelAll()
                }
                for worker in workers { try await worker.waitForPartitions() }
                return try await story(stage)
            }
            await feed.close()
        } catch {
            await shop.close()
            throw error
        }
        await shop.close()
        return result
    }

    /// Waits until everything that was fed has an outcome, stops the workers and counts.
    func settle() async throws -> Audit {
        do { try await ledger.waitUntilAnswered() } catch {
            // The count below says more.
            Issue.record(error)
        }
        await retire()
        return try await Audit(shop)
    }

    func abandon() async {
        for worker in workers { worker.abandon() }
        for worker in workers { await worker.program.waitForEnd() }
    }

    /// Stops the workers, each of which must end well.
    func retire() async {
        await withDiscardingTaskGroup { group in
            for worker in workers { group.addTask { await worker.retire() } }
        }
    }
    /// Feeds live events and watches each of them.
    func latencies(of live: (count: Int, length: Duration)) async throws -> Latencies {
        _ = ledger.takeWaits()
        try await feed.send(live.count, over: live.length)
        try await ledger.waitUntilAnswered()
        let waits = ledger.takeWaits()
        try #require(waits.count == live.count)
        return Latencies(waits)
    }
}

/// The times from live events to their visible tokens.
struct Latencies: CustomStringConvertible {
    let p50, p99: Duration
    var description: String { "p50 \(p50), p99 \(p99)" }

    init(_ waits: [Duration]) {
        let sorted = waits.sorted()
        func percentile(_ part: Double) -> Duration { sorted[Int((Double(sorted.count - 1) * part).rounded(.up))] }
        (p50, p99) = (percentile(0.5), percentile(0.99))
    }
}
