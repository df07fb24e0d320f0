import AdapterKit
import Synchronization
import Wiring

/// The gateway's clock beside the clocks that date tokens' records. The gateway judges sessions by its own.
final class FollowedClock: Sendable {
    private let state: Mutex<(comparison: ClockComparison, steps: ClockSteps)>
    private let start = ContinuousClock.now
    private let now: @Sendable () -> UnixTime

    init(now: @escaping @Sendable () -> UnixTime) {
        self.now = now
        state = Mutex((ClockComparison(), ClockSteps(at: now(), elapsed: .zero)))
    }

    /// The lead over those clocks, in microseconds; nil where they agree or it is unknown.
    var difference: Int64? { state.withLock { $0.comparison.difference(at: now()) } }

    /// Whether this clock may be wrong: it differs from those clocks, or was set since it last agreed with them.
    var isInDoubt: Bool {
        let (time, elapsed) = (now(), ContinuousClock.now - start)
        return state.withLock { state in
            state.comparison.difference(at: time) != nil || state.steps.isSet(time, elapsed: elapsed)
        }
    }

    /// Notes that a record was dated `moment` just now.
    func record(_ moment: UnixTime) {
        let (time, elapsed) = (now(), ContinuousClock.now - start)
        state.withLock { state in
            if state.comparison.record(moment, at: time) { state.steps.agreed(time, elapsed: elapsed) }
        }
    }
}
