import Synchronization

/// A quota of the brokers: whether it makes the worker wait, and the size of commits that fits it. It outlives the sessions: the next
/// one must not begin with a commit of the size that was too large.
final class BrokerQuota: Sendable {
    private struct State {
        var size = CommitSize()
        var lastThrottle: ContinuousClock.Instant?
        var longest = Duration.zero
        var wasThrottled = false
    }

    struct Look: Equatable {
        /// Whether the brokers have made the worker wait within the last minute.
        let isThrottled: Bool
        let isNew: Bool
    }

    /// The time after a throttle for which the quota still explains slow commits.
    static let memory = Duration.seconds(60)
    /// The longest timeout of a call: two of them are over before a supervisor ends the worker (`SessionProgress.end`).
    static let longestCall = Duration.seconds(50)

    private let state = Mutex(State())

    func note(_ throttle: Duration, at now: ContinuousClock.Instant = .now) {
        guard throttle > .zero else { return }
        state.withLock { state in
            state.longest = max(throttle, Self.isThrottled(state, at: now) ? state.longest : .zero)
            state.lastThrottle = now
        }
    }

    /// Returns the timeout of a call whose timeout is `limit` without a quota: a broker answers nothing on a connection that
    /// it throttles, and the call may meet the end of one throttle and the whole next one.
    func stretched(_ limit: Duration, at now: ContinuousClock.Instant = .now) -> Duration {
        let throttle = state.withLock { Self.isThrottled($0, at: now) ? $0.longest : .zero }
        return max(limit, min(Self.longestCall, limit + throttle * 2))
    }

    /// Returns the state at `now`.
    func look(at now: ContinuousClock.Instant = .now) -> Look {
        state.withLock { state in
            let isThrottled = Self.isThrottled(state, at: now)
            defer { state.wasThrottled = isThrottled }
            return Look(isThrottled: isThrottled, isNew: isThrottled != state.wasThrottled)
        }
    }

    private static func isThrottled(_ state: State, at now: ContinuousClock.Instant) -> Bool {
        state.lastThrottle.map { now - $0 < memory } ?? false
    }

    /// The most events to read ahead; nil for no limit.
    var limit: Int? { state.withLock { $0.size.limit } }

    /// Notes the end of a commit.
    ///
    /// - Parameter events: the events to read ahead without a quota.
    /// - Returns: whether `limit` changed.
    func ended(
        in length: Duration, isCommitted: Bool, of events: Int, at now: ContinuousClock.Instant = .now
    ) -> Bool {
        state.withLock { state in
            let before = state.size
            let isThrottled = Self.isThrottled(state, at: now)
            state.size.ended(in: length / .seconds(1), isCommitted: isCommitted, of: events, isThrottled: isThrottled)
            return state.size != before
        }
    }

    /// Returns whether a commit that took `length` was fenced by the brokers themselves: they abort a transaction that is open for
    /// longer than `limit`, and a throttle may have kept it open. Another worker with the name is not known to exist then.
    func isOverdue(_ length: Duration, _ limit: Duration, at now: ContinuousClock.Instant = .now) -> Bool {
        length >= limit && state.withLock { Self.isThrottled($0, at: now) }
    }
}

/// The number of events that a worker reads ahead, and so the size of its commits, learned from the times that commits take.
///
/// A broker with a quota for produced bytes makes the producer wait for as long as the quota needs for the bytes that were sent. A
/// transaction that waits for longer than its timeout is aborted. So commits get smaller while they are slow, and grow again.
struct CommitSize: Sendable, Equatable {
    /// The seconds from which on a commit is slow: a quarter of the transaction timeout.
    static let slow = 1.0
    /// The seconds up to which a commit is quick.
    static let quick = 0.25
    /// The least number: batches of one event.
    static let least = 2

    /// The most events to read ahead; nil for no limit.
    private(set) var limit: Int?

    /// Notes the end of a commit.
    ///
    /// - Parameters:
    ///   - seconds: the duration of the commit.
    ///   - isCommitted: whether its events were published.
    ///   - events: the events to read ahead without a limit.
    ///   - isThrottled: whether brokers make the producer wait. Without that, a slow commit has another reason, which smaller commits
    ///     do not change.
    mutating func ended(in seconds: Double, isCommitted: Bool, of events: Int, isThrottled: Bool) {
        if isThrottled, seconds > Self.slow {
            // After a commit that took too long, the next one must be far within the time.
            limit = max(Self.least, min(limit ?? events, events) / (isCommitted ? 2 : 8))
        } else if let size = limit, isCommitted, seconds <= Self.quick {
            limit = size > events / 2 ? nil : size * 2
        }
    }
}
