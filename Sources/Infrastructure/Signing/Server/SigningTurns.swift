import Synchronization

/// Allows a few pieces of work to sign at a time, with those of several connections in turns.
final class SigningTurns: Sendable {
    typealias Owner = TurnQueue<CheckedContinuation<Void, Never>>.Owner

    private struct State {
        var free: Int
        var queue = TurnQueue<CheckedContinuation<Void, Never>>()
    }

    private let state: Mutex<State>

    /// - Parameter count: the number of pieces that work at a time. With two, the next one begins while the last few
    ///   signatures of the one before keep only some of the lanes.
    init(_ count: Int = 2) { state = Mutex(State(free: max(1, count))) }

    /// The number of pieces that wait for their turn.
    var waiting: Int { state.withLock { $0.queue.count } }

    /// Carries out `body` when it is its owner's turn.
    func take<Result: Sendable>(_ owner: Owner, _ body: () async -> Result) async -> Result {
        await withCheckedContinuation { waiter in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.queue.push(waiter, of: owner)
                return false
            }
            if isFree { waiter.resume() }
        }
        defer { pass() }
        return await body()
    }

    /// Passes the turn to the next piece of work, or frees it.
    private func pass() {
        let next = state.withLock { state in
            let next = state.queue.pop()
            if next == nil { state.free += 1 }
            return next
        }
        next?.resume()
    }
}
