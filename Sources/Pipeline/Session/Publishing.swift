import AdapterKit

/// Whether units may be committed, and when it is tried again after one was not.
struct Publishing: Sendable {
    private enum State {
        /// Units may be committed.
        case open
        /// The last unit was aborted: nothing is begun for a while.
        case resting(Pause)
        /// An output topic cannot be written: nothing is begun, and after a while the topic is looked at.
        case blocked(Pause)
        /// The topic is being looked at.
        case checking
    }

    /// A stretch of time. A clock that was set back ends it: nothing may be held up by that.
    private struct Pause {
        let start: UnixTime
        let end: UnixTime

        func isOver(at now: UnixTime) -> Bool { now >= end || now < start }
    }

    private var state = State.open
    private var backoff: Backoff

    /// Everything may be committed. After trouble, pauses are `backoff`'s.
    init(_ backoff: Backoff) { self.backoff = backoff }

    /// Whether an output topic cannot be written.
    var isBlocked: Bool {
        switch state {
        case .open, .resting: false
        case .blocked, .checking: true
        }
    }

    /// Until when nothing is begun after an abort; nil where that is over.
    func rest(at now: UnixTime) -> UnixTime? {
        if case .resting(let pause) = state, !pause.isOver(at: now) { pause.end } else { nil }
    }

    /// When the topic is to be looked at; nil where there is none to look at, or somebody does already.
    var nextCheck: UnixTime? { if case .blocked(let pause) = state { pause.end } else { nil } }

    /// Whether the topic is to be looked at now; from then on somebody does.
    mutating func beginsCheck(at now: UnixTime) -> Bool {
        guard case .blocked(let pause) = state, pause.isOver(at: now) else { return false }
        state = .checking
        return true
    }

    /// A unit was committed.
    mutating func committed() {
        state = .open
        backoff.reset()
    }

    /// A unit was aborted.
    mutating func aborted(at now: UnixTime) { state = .resting(pause(from: now)) }

    /// A topic cannot be written, or still cannot.
    mutating func blocked(at now: UnixTime) { state = .blocked(pause(from: now)) }

    /// The topics can be written again.
    mutating func unblocked() {
        state = .open
        backoff.reset()
    }

    private mutating func pause(from now: UnixTime) -> Pause {
        Pause(start: now, end: now.advanced(byMicroseconds: backoff.pause().microseconds))
    }
}
