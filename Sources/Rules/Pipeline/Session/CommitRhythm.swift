import AdapterKit

/// The times of the latest commits, and the waits that follow from them.
struct CommitRhythm: Sendable {
    private var lastBegin: UnixTime?
    private var lastEnd: UnixTime?
    /// The average duration of a commit, in microseconds: the last commit counts half.
    private var duration: Int64?

    mutating func began(at now: UnixTime) { lastBegin = now }

    mutating func ended(at now: UnixTime) {
        lastEnd = now
        // The clock was set back: the duration is unknown.
        guard let lastBegin, lastBegin <= now else { return }
        let took = now.microseconds(since: lastBegin)
        duration = duration.map { ($0 + took) / 2 } ?? took
    }

    /// Returns the time for which the first event of a batch waits for more events, in microseconds. It is at most the
    /// duration of a commit, because later events wait for a commit that long anyway.
    func linger(atMost limit: Int64) -> Int64 { min(limit, duration ?? limit) }

    /// Returns the earliest time of the next commit; nil if it may begin now.
    ///
    /// - Parameter isAwaited: whether a live event waits for the commit, or the worker has no room for more events
    ///   without it.
    func rest(_ settings: SessionStateMachine.Settings, isAwaited: Bool, at now: UnixTime) -> UnixTime? {
        let (last, least) = isAwaited ? (lastEnd, settings.rest) : (lastBegin, settings.pause)
        // A clock that was set back must not delay a commit.
        guard let last, last <= now else { return nil }
        let end = last.advanced(byMicroseconds: least)
        return now < end ? end : nil
    }
}
