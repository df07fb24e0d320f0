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

    /// The immediate outcome of an ask.
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
