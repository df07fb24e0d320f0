import DequeModule
import Kafka
import Pipeline
import Synchronization

/// Sends the asks for users without a known token, at most `pickup.cold_rate` each second. After a start that is every
/// user.
///
/// An ask whose turn comes while its caller waits is queued until then; any other is refused, with the time to come
/// back.
final class ColdAsks: Sendable {
    private struct State {
        var budget: ColdBudget
        var queue = QueuedAsks()
    }

    private let state: Mutex<State>
    private let sender: EventSender
    private let rate: Int
    /// Called for each ask: it was sent, queued or refused.
    private let noted: @Sendable (Fate) -> Void

    enum Fate: String, CaseIterable, Sendable {
        case sent, queued, refused
    }

    init(rate: Int, sender: EventSender, noted: @escaping @Sendable (Fate) -> Void) {
        state = Mutex(State(budget: ColdBudget(rate: rate)))
        self.rate = rate
        self.sender = sender
        self.noted = noted
    }

    /// The number of asks that wait for their turn.
    var count: Int { state.withLock { $0.queue.count } }

    /// Sends `ask`, or queues it.
    ///
    /// - Parameter unseen: the highest version that an unknown token of the user may have.
    /// - Throws: `Problem` where its turn is too late.
    func send(_ ask: OutgoingAsk, unseen: Int64, within wait: Duration) throws(Problem) {
        let body = ask.record.body
        let cold = OutgoingAsk(
            record: ProducerRecord(
                topic: ask.record.topic, key: body.key, value: body.value,
                headers: body.headers + [UnseenTokens.header(upTo: unseen)]),
            name: ask.name, ask: ask.ask)
        let turn = state.withLock { state in
            let now = ContinuousClock.now
            // Where the queue is full, an ask is sent now or never.
            let turn = state.budget.turn(at: now, within: state.queue.hasRoom ? wait : .zero)
            if case .after(let delay) = turn { state.queue.append(QueuedAsks.Ask(ask: cold, due: now + delay)) }
            return turn
        }
        switch turn {
        case .now:
            noted(.sent)
            sender.send([cold])
        case .after: noted(.queued)
        case .tooLate(let delay):
            noted(.refused)
            throw Problem.cold(rate: rate, after: delay)
        }
    }

    /// Sends the asks whose turn has come.
    func sendDue() {
        let due = state.withLock { $0.queue.take(at: .now) }
        if !due.isEmpty { sender.send(due) }
    }
}

/// The limit on asks per second for users without a known token: a start must not send all users to the workers at
/// once. A value without a clock.
struct ColdBudget: Sendable {
    /// The time at which an ask may be sent.
    enum Turn: Equatable, Sendable {
        case now
        case after(Duration)
        /// Later than its caller waits: after this time.
        case tooLate(Duration)
    }

    /// The burst that may be sent at once: the asks of this much time at the rate.
    private static let burst = Duration.milliseconds(200)
    private let interval: Duration
    /// The turn of the next ask, without the burst.
    private var next: ContinuousClock.Instant?

    /// A budget of `rate` asks a second.
    init(rate: Int) { interval = .seconds(1) / max(1, rate) }

    /// Returns the turn of an ask whose caller waits for `wait`. A turn within that time is used up.
    mutating func turn(at now: ContinuousClock.Instant, within wait: Duration) -> Turn {
        let start = max(next ?? now, now)
        let delay = start - now - Self.burst
        guard delay <= wait || delay <= .zero else { return .tooLate(delay) }
        next = start + interval
        return delay <= .zero ? .now : .after(delay)
    }
}

/// Asks that wait for their turn, each with the call that waits for its token. A value without a clock.
private struct QueuedAsks: Sendable {
    struct Ask: Sendable {
        let ask: OutgoingAsk
        let due: ContinuousClock.Instant
    }

    /// The most memory of the queued events, in bytes. A report may be 64 kB long.
    private static let budget = 8 << 20

    private var asks: Deque<Ask> = []
    /// The memory of the queued events, in bytes.
    private(set) var bytes = 0

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
