import JOSE

/// Which proofs were used, for as long as they could be used again.
///
/// Two generations take turns: when the younger has been filled for a window, the older is forgotten. A name is thus
/// remembered for a window at least, and for two at most. When there is no room nothing is forgotten, and nothing is
/// taken.
///
/// A clock that is set back keeps what there is for longer. What was forgotten by then could be used again, if the clock
/// is set back by more than a proof's age.
struct ReplayMemory: Sendable {
    enum Verdict: Sendable, Hashable {
        /// It was not used before, and will be known from now on.
        case new
        case used
        /// There is room again after this.
        case full(Duration)
    }

    private let window: Duration
    private let capacity: Int
    private var begin: UnixTime?
    private var younger: Set<Fingerprint> = []
    private var older: Set<Fingerprint> = []

    /// A memory of `capacity` names in `window`.
    init(window: Duration, capacity: Int) {
        self.window = window
        self.capacity = capacity
    }

    /// How many names are remembered.
    var count: Int { younger.count + older.count }

    mutating func use(_ name: Fingerprint, at now: UnixTime) -> Verdict {
        let end = turn(at: now)
        guard !younger.contains(name), !older.contains(name) else { return .used }
        guard younger.count < capacity else { return .full(.microseconds(end.microseconds(since: now))) }
        younger.insert(name)
        return .new
    }

    /// - Returns: when the younger generation becomes the older.
    private mutating func turn(at now: UnixTime) -> UnixTime {
        let last = begin ?? now
        if now >= last.advanced(by: window) {
            older = now >= last.advanced(by: window * 2) ? [] : younger
            younger = []
            begin = now
        } else if begin == nil || now < last {
            begin = now
        }
        return (begin ?? now).advanced(by: window)
    }
}
