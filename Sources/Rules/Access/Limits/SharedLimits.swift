import Synchronization

/// `RequestLimits` for many threads, with a clock.
public final class SharedLimits: Sendable {
    private let limits: Mutex<RequestLimits>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Limits by `rules`.
    ///
    /// - Parameter now: a clock that nobody sets.
    public init(_ rules: LimitRules = LimitRules(), now: @escaping @Sendable () -> ContinuousClock.Instant) {
        limits = Mutex(RequestLimits(rules, at: now()))
        self.now = now
    }

    /// Asks for one request of all `callers`, for `subject` where one is known.
    ///
    /// - Parameters:
    ///   - hasArrived: whether another question counts the request in the bucket for all.
    ///   - isStranger: whether the request is an unknown caller's, which leaves a part of each shared bucket to others.
    @discardableResult
    public func ask(
        _ callers: [Caller], subject: String? = nil, hasArrived: Bool = false, isStranger: Bool = false
    ) -> RequestLimits.Answer {
        let now = now()
        return limits.withLock {
            $0.ask(callers, subject: subject, hasArrived: hasArrived, isStranger: isStranger, at: now)
        }
    }

    /// Forgets the buckets that are full again.
    public func sweep() {
        let now = now()
        limits.withLock { $0.sweep(at: now) }
    }

    /// Returns how long `caller` has to wait for its next request, without taking one; zero or less if it has not.
    public func wait(of caller: Caller) -> Duration {
        let now = now()
        return limits.withLock { $0.wait(of: caller, at: now) }
    }
}
