/// The plan of the next request to a collector, and of the reaction to its answers: a value without clock or I/O. Times
/// are lengths since any moment that the caller keeps to.
struct ExportPlan: Sendable {
    /// The kind of telemetry.
    enum Signal: String, Sendable, CaseIterable {
        case traces, metrics
    }

    /// The action that is due.
    enum Action: Equatable {
        /// Send this: spans, those in hand again or the next ones, or the metrics as they are now.
        case send(Signal)
        /// Send nothing before this moment.
        case wait(until: Duration)
    }

    /// The answer to a request.
    enum Answer: Equatable {
        /// The collector has it.
        case accepted
        /// The collector cannot accept it now, or cannot be reached. `retryAfter` is the wait that the collector asked
        /// for, if any.
        case busy(retryAfter: Duration? = nil)
        /// The collector does not want it, however often it is sent.
        case refused
    }

    /// The fate of the items that were sent.
    enum Fate: Equatable {
        /// The collector has the items.
        case delivered
        /// The items must be sent again.
        case kept
        /// The items are lost, for this reason.
        case lost(Loss)
    }

    /// The reason that spans never reached a collector.
    enum Loss: String, Sendable {
        /// The collector does not want them.
        case refused
        /// The collector could not be reached for too long.
        case undelivered
    }

    /// The number of spans that go together.
    static let spansAtOnce = 512
    /// The time for which spans wait for others.
    static let linger = Duration.seconds(1)
    /// The number of times that spans are sent before they are given up: about a minute and a half.
    static let tries = 8
    /// The first pause and the longest; each is twice the one before, less a random part of up to a half.
    private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(60))
    /// The longest wait that is believed.
    private static let longestWish = Duration.seconds(300)

    private let interval: Duration
    private var nextMetrics: Duration
    private var nextSpans: Duration
    /// The state of one signal: a collector may accept one signal and refuse the other.
    private struct Course {
        /// The moment before which nothing is sent.
        var opening = Duration.zero
        /// Failures in a row.
        var failures = 0
    }

    private var courses: [Signal: Course] = [:]
    /// The number of times that the spans in hand were sent.
    private var sendings = 0

    /// - Parameter interval: the time between two requests with metrics.
    init(interval: Duration, at now: Duration) {
        self.interval = interval
        nextMetrics = now + interval
        nextSpans = now + Self.linger
    }

    /// Returns the action that comes next.
    ///
    /// - Parameter spans: the number of spans that wait.
    func next(at now: Duration, spans: Int) -> Action {
        // First, for there may be spans at any time.
        let metrics = max(nextMetrics, opening(of: .metrics))
        if now >= metrics { return .send(.metrics) }
        let opening = opening(of: .traces)
        guard now >= opening else { return .wait(until: min(metrics, opening)) }
        if sendings > 0 || spans >= Self.spansAtOnce || spans > 0 && now >= nextSpans { return .send(.traces) }
        // No signal announces new spans, so that ending a span costs nothing; the plan checks now and then.
        return .wait(until: min(metrics, now + Self.linger / 4))
    }

    private func opening(of signal: Signal) -> Duration { courses[signal]?.opening ?? .zero }

    /// Records the answer to a request, and returns the fate of the items in it.
    ///
    /// - Parameter chance: anything from 0 to 1.
    mutating func answered(
        _ answer: Answer, to signal: Signal, at now: Duration, chance: Double
    ) -> Fate {
        let fate = fate(of: signal, answer)
        switch answer {
        case .accepted: courses[signal] = Course(opening: now)
        case .busy, .refused: fail(signal, answer, now, chance)
        }
        if fate != .kept {
            switch signal {
            case .traces: (sendings, nextSpans) = (0, now + Self.linger)
            case .metrics: nextMetrics = max(nextMetrics + interval, now)
            }
        }
        return fate
    }

    private mutating func fate(of signal: Signal, _ answer: Answer) -> Fate {
        switch answer {
        case .accepted: return .delivered
        case .refused: return .lost(.refused)
        case .busy:
            guard signal == .traces else { return .kept }
            sendings += 1
            return sendings < Self.tries ? .kept : .lost(.undelivered)
        }
    }

    private mutating func fail(_ signal: Signal, _ answer: Answer, _ now: Duration, _ chance: Double) {
        var course = courses[signal] ?? Course()
        let bound = min(Self.pauses.first * (1 << min(course.failures, 6)), Self.pauses.longest)
        var pause = bound - bound / 2 * min(max(chance, 0), 1)
        if case .busy(let wish?) = answer { pause = max(pause, min(wish, Self.longestWish)) }
        course.failures += 1
        course.opening = now + pause
        courses[signal] = course
    }
}
