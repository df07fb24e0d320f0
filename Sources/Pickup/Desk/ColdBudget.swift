/// How many tokens are asked for each second of users of whom no token is known: a start must not send the whole fleet's users to
/// the workers at once. A value without a clock.
struct ColdBudget: Sendable {
    /// When an ask is sent.
    enum Turn: Equatable, Sendable {
        /// At once.
        case now
        /// After this time.
        case after(Duration)
        /// Not within the time that its caller waits, but after this one.
        case tooLate(Duration)
    }

    /// What may be sent at once, as a time of the rate.
    private static let burst = Duration.milliseconds(200)
    private let interval: Duration
    /// When the next ask's turn is, without the burst.
    private var next: ContinuousClock.Instant?

    /// A budget of `rate` asks a second.
    init(rate: Int) { interval = .seconds(1) / max(1, rate) }

    /// The turn of an ask whose caller waits for `wait`. A turn that comes within it is taken.
    mutating func turn(at now: ContinuousClock.Instant, within wait: Duration) -> Turn {
        let start = max(next ?? now, now)
        let delay = start - now - Self.burst
        guard delay <= wait || delay <= .zero else { return .tooLate(delay) }
        next = start + interval
        return delay <= .zero ? .now : .after(delay)
    }
}
