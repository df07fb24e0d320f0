import Kafka
import Synchronization

/// The brokers' answer about an event that was sent: one for all calls that share the event.
final class Delivery: Sendable {
    /// The brokers' answer.
    enum Word: Sendable {
        /// The brokers accepted the event, and gave it this place; nil where they did not name it.
        case taken(at: DeliveredPlace?)
        /// The brokers did not accept the event; its callers get this problem.
        case refused(Problem)
    }

    /// The delivery of every accepted event.
    static let taken = {
        let delivery = Delivery()
        delivery.end(.taken(at: nil))
        return delivery
    }()

    private struct State {
        var word: Word?
        var waiting: [Int: CheckedContinuation<Word?, Never>] = [:]
        /// The waits that were over before they began.
        var over: Set<Int> = []
        var next = 0
    }

    private let state = Mutex(State())

    /// The answer; nil while there is none.
    var word: Word? { state.withLock { $0.word } }

    /// Records the answer. Only the first one counts.
    func end(_ word: Word) {
        let waiting = state.withLock { state in
            guard state.word == nil else { return [CheckedContinuation<Word?, Never>]() }
            state.word = word
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: word) }
    }

    /// Returns the answer, if it comes within `wait`.
    func word(within wait: Duration) async -> Word? {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let timer = Task {
            try await Task.sleep(for: wait)
            expire(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let (isOver, word) = state.withLock { state -> (Bool, Word?) in
                let isOver = state.over.remove(number) != nil || state.word != nil
                if !isOver { state.waiting[number] = continuation }
                return (isOver, state.word)
            }
            if isOver { continuation.resume(returning: word) }
        }
    }

    private func expire(_ number: Int) {
        let continuation = state.withLock { state in
            let continuation = state.waiting.removeValue(forKey: number)
            if continuation == nil { state.over.insert(number) }
            return continuation
        }
        continuation?.resume(returning: nil)
    }
}
