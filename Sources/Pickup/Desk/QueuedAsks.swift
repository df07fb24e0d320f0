import DequeModule

/// Asks that wait for their turn, each with the call that waits for its token. A value without a clock.
struct QueuedAsks: Sendable {
    /// An event to send at its turn.
    struct Ask: Sendable {
        let ask: OutgoingAsk
        let due: ContinuousClock.Instant
    }

    private var asks: Deque<Ask> = []

    /// The number of asks.
    var count: Int { asks.count }

    /// Appends `ask`, whose turn comes after those of all others.
    mutating func append(_ ask: Ask) { asks.append(ask) }

    /// Removes and returns the asks whose turn has come.
    mutating func take(at now: ContinuousClock.Instant) -> [OutgoingAsk] {
        let due = asks.prefix { $0.due <= now }
        let taken = due.map(\.ask)
        asks.removeFirst(taken.count)
        return taken
    }
}
