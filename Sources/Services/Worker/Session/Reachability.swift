import Kafka
import Synchronization

/// The reachability of the brokers, as far as the clients report it.
///
/// The clients report the loss of a connection and not its return. A worker without events checks by itself.
final class Reachability: Sendable {
    private struct State {
        var isLost = false
        var isAsking = false
        var nextQuestion = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let observer: SessionObserver

    init(_ observer: SessionObserver) { self.observer = observer }

    /// Notes a client's error.
    func noted(_ error: KafkaError) {
        guard error.code == .allBrokersDown else { return }
        state.withLock { state in
            state.isLost = true
            // Under the lock, so that what is said last is true.
            observer.brokersLost(error)
        }
    }

    /// Notes that the brokers answered.
    func succeeded() {
        state.withLock { state in
            if state.isLost { observer.brokersFound() }
            state.isLost = false
        }
    }

    /// Whether a question to the brokers is due; a caller that gets true must call `asked`.
    var isQuestionDue: Bool {
        state.withLock { state in
            guard state.isLost, !state.isAsking, .now >= state.nextQuestion else { return false }
            state.isAsking = true
            return true
        }
    }

    /// Notes whether the brokers answered the question.
    func asked(isAnswered: Bool) {
        state.withLock { state in
            state.isAsking = false
            state.nextQuestion = .now + .seconds(2)
        }
        if isAnswered { succeeded() }
    }
}
