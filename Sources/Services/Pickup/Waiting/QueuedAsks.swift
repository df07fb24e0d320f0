import DequeModule
import Kafka

/// Asks that wait for their turn, each with the call that waits for its token. A value without a clock.
struct QueuedAsks: Sendable {
    /// An event to send at its turn.
    struct Ask: Sendable {
        let ask: OutgoingAsk
        let due: ContinuousClock.Instant
    }

    /// The most memory of the queued events, in bytes. A report may be 64 kB long.
    private static let budget = 8 << 20

    private var asks: Deque<Ask> = []
    /// The memory of the queued events, in bytes.
    private(set) var bytes = 0

    /// The number of asks.
    var count: Int { asks.count }

    /// Whether another ask may be appended.
    var hasRoom: Bool { bytes < Self.budget }

    /// Appends `ask`, whose turn comes after those of all others.
    mutating func append(_ ask: Ask) {
        asks.append(ask)
        bytes += Self.memory(of: ask.ask)
    }

    private static func memory(of ask: OutgoingAsk) -> Int { 512 + (ask.record.value?.count ?? 0) }

    /// Removes and returns the asks whose turn has come.
    mutating func take(at now: ContinuousClock.Instant) -> [OutgoingAsk] {
        let due = asks.prefix { $0.due <= now }
        let taken = due.map(\.ask)
        asks.removeFirst(taken.count)
        for ask in taken { bytes -= Self.memory(of: ask) }
        return taken
    }
}
