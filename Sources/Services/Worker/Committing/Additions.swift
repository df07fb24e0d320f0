import Pipeline
import Synchronization

/// The batches added to a transaction while its records are being delivered.
///
/// It closes once no addition is left to deliver. The transaction commits or gives back everything added until then. It
/// accepts nothing afterwards.
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

    /// Returns the additions since the last call. If there are none, it closes and returns nil.
    func takeOrClose() -> CommitUnit? {
        state.withLock { state in
            guard case .open(let waiting) = state else { return nil }
            state = waiting == nil ? .closed : .open(nil)
            return waiting
        }
    }
}
