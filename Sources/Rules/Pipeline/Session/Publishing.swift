import AdapterKit

/// The state that decides whether units may be committed, and the time of the next attempt after a failure.
struct Publishing: Sendable {
    private enum State {
        /// Units may be committed.
        case open
        /// The last unit was aborted: no commit begins during the pause.
        case resting(Pause)
        /// An output topic cannot be written: no commit begins, and the topic is checked after the pause.
        case blocked(Pause)
        /// The check of the topic is running.
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

    /// Whether an output topic cannot be written.
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

    /// Begins a check and returns true if one is due now.
    mutating func beginsCheck(at now: UnixTime) -> Bool {
        guard case .blocked(let pause) = state, pause.isOver(at: now) else { return false }
        state = .checking
        return true
    }

    /// Records a committed unit.
    mutating func committed() {
        state = .open
        backoff.reset()
    }

    /// Records an aborted unit.
    mutating func aborted(at now: UnixTime) { state = .resting(pause(from: now)) }

    /// Records that a topic cannot be written, or still cannot.
    mutating func blocked(at now: UnixTime) { state = .blocked(pause(from: now)) }

    /// Records that the topics can be written again.
    mutating func unblocked() {
        state = .open
        backoff.reset()
    }

    private mutating func pause(from now: UnixTime) -> Pause {
        Pause(start: now, end: now.advanced(byMicroseconds: backoff.pause().microseconds))
    }
}
