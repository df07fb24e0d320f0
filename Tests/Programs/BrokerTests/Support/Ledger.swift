import Kafka
import Synchronization
import Testing

/// The events sent and their outcomes, as a `read_committed` reader sees them while the story runs.
final class Ledger: Sendable {
    private struct State {
        /// Sent, and without an outcome so far.
        var open: Set<String> = []
        var seen: [String: Int] = [:]
        var producedAt: [String: ContinuousClock.Instant] = [:]
        var waits: [Duration] = []
        var last = ContinuousClock.now
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The number of events that have an outcome.
    var answered: Int { state.withLock { $0.seen.count } }
    /// The number of outcomes beyond the first of each event.
    var repeats: Int { state.withLock { $0.seen.values.reduce(0) { $0 + $1 - 1 } } }
    var open: Set<String> { state.withLock { $0.open } }

    /// Returns the waits of the events that finished since the last call, from before their production until their
    /// outcomes were seen.
    func takeWaits() -> [Duration] {
        state.withLock { state in
            defer { state.waits = [] }
            return state.waits
        }
    }

    func producing(_ ids: [String]) {
        state.withLock { state in
            for id in ids { state.producedAt[id] = .now }
        }
    }

    func sent(_ ids: [String]) {
        state.withLock { state in
            for id in ids where state.seen[id] == nil { state.open.insert(id) }
        }
    }

    func noted(_ record: ConsumedRecord) {
        guard let id = record.eventID else { return }
        let waiters = state.withLock { state in
            state.seen[id, default: 0] += 1
            state.open.remove(id)
            state.last = .now
            if let start = state.producedAt.removeValue(forKey: id) { state.waits.append(.now - start) }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until everything that was sent has an outcome. Where nothing happens for `limit`, it never will.
    func waitUntilAnswered(limit: Duration = .seconds(60)) async throws {
        try await wait(limit: limit) { $0.isEmpty }
    }

    /// Waits until what is open looks like this.
    func wait(limit: Duration = .seconds(60), until isEnough: (Set<String>) -> Bool) async throws {
        try await wait(limit) { isEnough($0.open) }
    }

    /// Waits until `count` events have an outcome, also such as nobody called sent.
    func wait(untilAnswered count: Int, limit: Duration = .seconds(60)) async throws {
        try await wait(limit) { $0.seen.count >= count }
    }

    private func wait(_ limit: Duration, until isEnough: (State) -> Bool) async throws {
        while true {
            try Task.checkCancellation()
            let (isOver, open, last) = state.withLock { (isEnough($0), $0.open, $0.last) }
            if isOver { return }
            try #require(
                .now - last < limit, "\(open.count) events have no outcome, such as \(open.sorted().prefix(5))")
            await next(atMost: .seconds(1))
        }
    }

    /// Waits for an outcome, but not for ever.
    private func next(atMost limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                await withCheckedContinuation { waiter in state.withLock { $0.waiters.append(waiter) } }
            }
            group.addTask { [self] in
                // The timer of the limit.
                try? await Task.sleep(for: limit)
                wake()
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func wake() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

struct LedgerReader {
    let partitions: [TopicPartition]
    let ledger: Ledger

    /// Until the task is canceled.
    func run() async throws {
        let consumer = try Cluster.makeReader(of: partitions)
        while !Task.isCancelled {
            for event in await consumer.events(limit: 2000, within: .seconds(1)) {
                switch event {
                case .record(let record): ledger.noted(record)
                // The library comes back by itself.
                case .error(let error): if error.isFatal { throw error }
                case .rebalance, .endOfPartition: break
                }
            }
        }
        await consumer.close(within: .seconds(2))
    }
}
