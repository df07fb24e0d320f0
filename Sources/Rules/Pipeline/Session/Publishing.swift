import AdapterKit

/// The state that decides whether units may be committed, and the time of the next attempt after a failure.
struct Publishing: Sendable {
    private enum State {
        case open
        /// The last unit was aborted: no commit begins during the pause.
        case resting(Pause)
        /// An output topic cannot be written: no commit begins, and the topic is checked after the pause.
        case blocked(Pause)
        case checking
    }

    /// A period of time. A clock that was set back ends it, so that it delays nothing.
    private struct Pause {
        let start: UnixTime
        let end: UnixTime

        func isOver(at now: UnixTime) -> Bool { now >= end || now < start }
    }

    private var state = State.open
    private var backoff: Backoff

    /// Creates the state without a failure. After a failure, `backoff` sets the pauses.
    init(_ backoff: Backoff) { self.backoff = backoff }

    var isBlocked: Bool {
        switch state {
        case .open, .resting: false
        case .blocked, .checking: true
        }
    }

    /// Returns the end of the pause after an abort; nil without a pause.
    func rest(at now: UnixTime) -> UnixTime? {
        if case .resting(let pause) = state, !pause.isOver(at: now) { pause.end } else { nil }
    }

    /// The time of the next check of the topic; nil if no check is due or one is running.
    var nextCheck: UnixTime? { if case .blocked(let pause) = state { pause.end } else { nil } }

    mutating func beginsCheck(at now: UnixTime) -> Bool {
        guard case .blocked(let pause) = state, pause.isOver(at: now) else { return false }
        state = .checking
        return true
    }

    mutating func committed() {
        state = .open
        backoff.reset()
    }

    mutating func aborted(at now: UnixTime) { state = .resting(pause(from: now)) }

    mutating func blocked(at now: UnixTime) { state = .blocked(pause(from: now)) }

    mutating func unblocked() {
        state = .open
        backoff.reset()
    }

    private mutating func pause(from now: UnixTime) -> Pause {
        Pause(start: now, end: now.advanced(byMicroseconds: backoff.pause().microseconds))
    }
}

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

/// Growing pauses: by default 250 ms first, then twice as long each time, up to 10 s.
public struct Backoff: Sendable {
    private let first: Duration
    private let most: Duration
    private var next: Duration

    /// Creates pauses from `first` up to `most`.
    public init(from first: Duration = .milliseconds(250), atMost most: Duration = .seconds(10)) {
        self.first = min(first, most)
        self.most = most
        next = self.first
    }

    public mutating func pause() -> Duration {
        defer { next = min(next * 2, most) }
        return next
    }

    public mutating func reset() { next = first }
}
