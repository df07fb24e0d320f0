/// The limit on asks per second for users without a known token: a start must not send all users to the workers at
/// once. A value without a clock.
struct ColdBudget: Sendable {
    /// The time at which an ask may be sent.
    enum Turn: Equatable, Sendable {
        /// Now.
        case now
        /// After this time.
        case after(Duration)
        /// Later than its caller waits: after this time.
        case tooLate(Duration)
    }

    /// The burst that may be sent at once: the asks of this much time at the rate.
    private static let burst = Duration.milliseconds(200)
    private let interval: Duration
    /// The turn of the next ask, without the burst.
    private var next: ContinuousClock.Instant?

    /// A budget of `rate` asks a second.
    init(rate: Int) { interval = .seconds(1) / max(1, rate) }

    /// Returns the turn of an ask whose caller waits for `wait`. A turn within that time is used up.
    mutating func turn(at now: ContinuousClock.Instant, within wait: Duration) -> Turn {
        let start = max(next ?? now, now)
        let delay = start - now - Self.burst
        guard delay <= wait || delay <= .zero else { return .tooLate(delay) }
        next = start + interval
        return delay <= .zero ? .now : .after(delay)
    }
}
