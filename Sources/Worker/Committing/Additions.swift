import Pipeline
import Synchronization

/// What is added to a transaction while its records are on their way.
///
/// It closes when there is nothing left to deliver: what was taken until then is committed with the transaction or given back
/// with it, and nothing is taken afterwards.
final class Additions: Sendable {
    private enum State {
        case open(CommitUnit?)
        case closed
    }

    private let state = Mutex(State.open(nil))

    /// Adds to the transaction.
    ///
    /// - Returns: whether that was in time.
    func offer(_ addition: CommitUnit) -> Bool {
        state.withLock { state in
            guard case .open(let waiting) = state else { return false }
            var all = waiting ?? addition
            if waiting != nil { all.add(addition) }
            state = .open(all)
            return true
        }
    }

    /// What was added since the last call. Where that is nothing, nothing is taken any more.
    func takeOrClose() -> CommitUnit? {
        state.withLock { state in
            guard case .open(let waiting) = state else { return nil }
            state = waiting == nil ? .closed : .open(nil)
            return waiting
        }
    }
}
