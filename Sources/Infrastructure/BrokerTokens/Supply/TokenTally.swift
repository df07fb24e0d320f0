public import Formats
import Synchronization

/// The counts of fetched tokens and of failures, for metrics. Counts only grow.
public final class TokenTally: Sendable {
    private struct State {
        var obtained = 0
        var failed = 0
        var expiry: UnixTime?
        var trouble: String?
    }

    private let state = Mutex(State())

    /// A tally without counts.
    public init() {}

    /// The numbers of tokens that were fetched, and of fetches that failed.
    public var counts: (obtained: Int, failed: Int) { state.withLock { ($0.obtained, $0.failed) } }

    /// The end of the last token's life; nil before the first.
    public var expiry: UnixTime? { state.withLock { $0.expiry } }

    /// The reason for the last fetch's failure; nil where it succeeded.
    public var trouble: String? { state.withLock { $0.trouble } }

    func obtained(expiry: UnixTime) {
        state.withLock { state in
            state.obtained += 1
            state.expiry = expiry
            state.trouble = nil
        }
    }

    func failed(_ trouble: String) {
        state.withLock { state in
            state.failed += 1
            state.trouble = trouble
        }
    }
}
