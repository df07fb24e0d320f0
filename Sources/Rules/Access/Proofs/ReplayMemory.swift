import JOSE

/// The used proofs, for as long as they could be used again.
///
/// Two generations take turns: when the younger has been filled for a window, and nothing in the older could be used
/// again, the older is forgotten and the younger takes its place. A name is thus remembered for a window at least, by
/// the clock that proofs are judged by, however that is set. When there is no room, nothing is forgotten and nothing is
/// taken: after a clock was set back that may last until it has caught up.
struct ReplayMemory: Sendable {
    enum Verdict: Sendable, Hashable {
        /// The proof was not used before, and is remembered from now on.
        case new
        case used
        /// The key has as many proofs as allowed. There may be room again after this time.
        case tooMany(Duration)
        /// There may be room again after this.
        case full(Duration)
    }

    private struct Generation: Sendable {
        var names: Set<Fingerprint> = []
        /// The number of names of each key.
        var counts: [Fingerprint: Int] = [:]
        /// The latest moment at which one of them was used.
        var last: UnixTime?
    }

    private let window: Duration
    private let capacity: Int
    private let quota: Int
    private var begin: UnixTime?
    private var younger = Generation()
    private var older = Generation()

    /// A memory of `capacity` names in `window`, of which one key has `quota` at most.
    init(window: Duration, capacity: Int, quota: Int) {
        self.quota = quota
        self.window = window
        self.capacity = capacity
    }

    var count: Int { younger.names.count + older.names.count }

    /// Returns whether the name was used and could be used again.
    func isKnown(_ name: Fingerprint) -> Bool { younger.names.contains(name) || older.names.contains(name) }

    /// Forgets the proofs that cannot be used again at `now`.
    mutating func sweep(at now: UnixTime) { takeTurns(at: now) }

    mutating func use(_ name: Fingerprint, of key: Fingerprint, at now: UnixTime) -> Verdict {
        takeTurns(at: now)
        guard !isKnown(name) else { return .used }
        guard younger.names.count < capacity else { return .full(wait(at: now)) }
        guard younger.counts[key, default: 0] < quota else { return .tooMany(wait(at: now)) }
        younger.names.insert(name)
        younger.counts[key, default: 0] += 1
        younger.last = max(younger.last ?? now, now)
        return .new
    }

    private mutating func takeTurns(at now: UnixTime) {
        let since = min(begin ?? now, now)
        begin = since
        guard canForget(older, at: now), now >= since.advanced(by: window) else { return }
        older = canForget(younger, at: now) ? Generation() : younger
        younger = Generation()
        begin = now
    }

    private func canForget(_ generation: Generation, at now: UnixTime) -> Bool {
        generation.last.map { $0.advanced(by: window) < now } ?? true
    }

    /// Returns the time until the generations take turns, a window at most.
    private func wait(at now: UnixTime) -> Duration {
        let since = begin ?? now
        let turn = max(since, older.last ?? since).advanced(by: window)
        return min(.microseconds(turn.microseconds(since: now)), window)
    }
}
