import AdapterKit
import Pipeline
import Synchronization

/// The calls that are open, and the replies that nobody took yet. It makes every call end once.
final class OpenCalls: Sendable {
    private struct Values {
        var open: Set<Int> = []
        var replies: [LookupReply] = []
        var isOver = false
        var signal: @Sendable () -> Void = {}
    }

    private let values = Mutex(Values())

    /// Opens `calls`; where the book is closed, they end at once.
    ///
    /// - Returns: those that have to be made. A call that is open already is made once.
    func open(_ calls: [LookupCall]) -> [LookupCall] {
        var opened: [LookupCall] = []
        let signal = values.withLock { values -> (@Sendable () -> Void)? in
            guard values.isOver else {
                opened = calls.filter { values.open.insert($0.id).inserted }
                return nil
            }
            values.replies += calls.map { LookupReply(id: $0.id, result: .failure(LookupFailure.stopping)) }
            return values.signal
        }
        signal?()
        return opened
    }

    /// Ends the call `id`, unless it is over already.
    func close(_ id: Int, _ result: Result<LookupAnswer, LookupFailure>) {
        let signal = values.withLock { values -> (@Sendable () -> Void)? in
            guard values.open.remove(id) != nil else { return nil }
            values.replies.append(LookupReply(id: id, result: result))
            return values.signal
        }
        signal?()
    }

    /// Ends every call that is open, and those to come.
    func closeAll(_ failure: LookupFailure) {
        let signal = values.withLock { values in
            values.isOver = true
            values.replies += values.open.sorted().map { LookupReply(id: $0, result: .failure(failure)) }
            values.open = []
            return values.signal
        }
        signal()
    }

    func take() -> [LookupReply] {
        values.withLock { values in
            defer { values.replies = [] }
            return values.replies
        }
    }

    /// Sets the function that is called when replies are ready; calls it at once where some are.
    func notify(_ signal: @escaping @Sendable () -> Void) {
        let isDue = values.withLock { values in
            values.signal = signal
            return !values.replies.isEmpty
        }
        if isDue { signal() }
    }
}
