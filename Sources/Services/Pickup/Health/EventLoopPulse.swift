import NIOCore
import Synchronization

/// Whether the event loops, which read and answer all calls, still run what they are given.
final class EventLoopPulse: Sendable {
    /// The age of an unanswered question at which its loop counts as stuck.
    static let stuckAfter = Duration.seconds(60)

    private let loops: [any EventLoop]
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The times of the unanswered questions, by the loop's place.
    private let open = Mutex<[Int: ContinuousClock.Instant]>([:])

    /// The pulse of `loops`, by the clock `now`.
    init(_ loops: [any EventLoop], now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.loops = loops
        self.now = now
    }

    /// Asks every loop that has no question open, and returns whether no loop is stuck.
    func isAlive() -> Bool {
        let now = now()
        for (place, loop) in loops.enumerated() where open.withLock({ $0[place] == nil }) {
            open.withLock { $0[place] = now }
            loop.execute { self.open.withLock { $0[place] = nil } }
        }
        return open.withLock { $0.values.allSatisfy { now - $0 < Self.stuckAfter } }
    }
}
