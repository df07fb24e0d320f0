import AdapterKit

/// When transactions began and ended, and what follows for those to come.
struct CommitRhythm: Sendable {
    private var lastBegin: UnixTime?
    private var lastEnd: UnixTime?
    /// How long a commit takes, in microseconds: half of it is the last one's.
    private var duration: Int64?

    mutating func began(at now: UnixTime) { lastBegin = now }

    mutating func ended(at now: UnixTime) {
        lastEnd = now
        // A clock that was set back says nothing.
        guard let lastBegin, lastBegin <= now else { return }
        let took = now.microseconds(since: lastBegin)
        duration = duration.map { ($0 + took) / 2 } ?? took
    }

    /// How long the first event of a batch waits for others, in microseconds: no longer than a commit takes, for so long
    /// those that come after it wait together anyway.
    func linger(atMost limit: Int64) -> Int64 { min(limit, duration ?? limit) }

    /// Until when the next transaction is not begun; nil where it may be.
    ///
    /// - Parameter isAwaited: whether a live event waits for it, or it is needed to go on at all.
    func rest(_ settings: SessionStateMachine.Settings, isAwaited: Bool, at now: UnixTime) -> UnixTime? {
        let (last, least) = isAwaited ? (lastEnd, settings.rest) : (lastBegin, settings.pause)
        // A clock that was set back must not hold anything up.
        guard let last, last <= now else { return nil }
        let end = last.advanced(byMicroseconds: least)
        return now < end ? end : nil
    }
}
