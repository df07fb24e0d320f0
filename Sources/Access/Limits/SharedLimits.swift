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
    public func ask(_ callers: [Caller], subject: String? = nil) -> RequestLimits.Answer {
        let now = now()
        return limits.withLock { $0.ask(callers, subject: subject, at: now) }
    }
}
