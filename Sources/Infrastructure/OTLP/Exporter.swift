public import Formats
import HTTPTransport
public import Logging
public import Spans
public import Telemetry

/// Sends a process's spans to a collector, by OTLP over HTTP. No other task waits for it: spans that it cannot send in
/// time are counted and dropped.
public struct Exporter: Sendable {
    /// The time for sending the remaining spans at the end, where the caller names no other.
    public static let standardLastWord = Duration.seconds(2)

    let collector: Collector
    let queue: SpanQueue
    let metrics: ExportMetrics
    let resource: @Sendable () -> [EndedSpan.Attribute]
    let logger: Logger
    let now: @Sendable () -> UnixTime
    let answered: @Sendable (_ trouble: String?) -> Void
    private let lastWord: Duration

    /// - Parameters:
    ///   - queue: the source of spans.
    ///   - resource: returns the attributes of the process, for each request.
    ///   - answered: gets the collector's trouble with each request; nil where it accepts.
    ///   - lastWord: the time for sending the remaining spans at the end.
    public init(
        to collector: Collector, queue: SpanQueue, metrics: ExportMetrics,
        resource: @escaping @Sendable () -> [EndedSpan.Attribute], logger: Logger,
        now: @escaping @Sendable () -> UnixTime,
        answered: @escaping @Sendable (_ trouble: String?) -> Void = { _ in },
        lastWord: Duration = Self.standardLastWord
    ) {
        self.answered = answered
        self.collector = collector
        self.queue = queue
        self.metrics = metrics
        self.resource = resource
        self.logger = logger
        self.now = now
        self.lastWord = lastWord
        metrics.follow(queue)
    }

    /// Sends until the task is canceled, and then for a moment the remaining spans. To be called once.
    public func run() async {
        var work = ExportWork(self)
        while !Task.isCancelled {
            switch work.next {
            case .send: await work.send(within: collector.timeout)
            // Until the batch is due or the collector is tried again; only a cancellation ends it early.
            case .wait(let moment): try? await Task.sleep(for: moment - work.elapsed)
            }
        }
        // In a task of its own, which is not canceled.
        await Task { [work] in
            var work = work
            await work.finish(within: lastWord)
        }.value
    }
}

public struct ExportMetrics: Sendable {
    private let requests: CounterFamily
    private let lost: CounterFamily
    private let registry: MetricsRegistry

    /// Makes its families in `registry`.
    public init(_ registry: MetricsRegistry) {
        self.registry = registry
        requests = registry.counter(
            "remint_telemetry_requests_total", "Requests to the collector, by result: accepted, busy, refused.",
            labels: ["signal", "result"])
        lost = registry.counter(
            "remint_telemetry_dropped_spans_total",
            "Spans that no collector has accepted, by reason: queue_full, refused, undelivered, shutdown.",
            labels: ["reason"])
    }

    /// Counts the spans that did not fit into `queue`.
    fileprivate func follow(_ queue: SpanQueue) {
        registry.beforeReading { [self] in lost(queue.takeDropped(), "queue_full") }
    }

    fileprivate func sent(_ answer: ExportPlan.Answer) {
        let result =
            switch answer {
            case .accepted: "accepted"
            case .busy: "busy"
            case .refused: "refused"
            }
        requests.add(1, "traces", result)
    }

    fileprivate func lost(_ count: Int, _ reason: String) {
        if count > 0 { lost.add(count, reason) }
    }
}

private struct ExportWork: Sendable {
    private let exporter: Exporter
    private let transport: HTTPTransport
    private let epoch = ContinuousClock.now
    private var plan = ExportPlan()
    private var outage = Outage()
    private var inHand: [EndedSpan] = []

    init(_ exporter: Exporter) {
        self.exporter = exporter
        transport = exporter.collector.makeTransport()
    }

    var elapsed: Duration { .now - epoch }
    var next: ExportPlan.Action { plan.next(at: elapsed, spans: exporter.queue.count) }

    mutating func send(within limit: Duration) async {
        if inHand.isEmpty { inHand = exporter.queue.take(ExportPlan.spansAtOnce) }
        let body = ExportRequest(resource: exporter.resource()).json(of: inHand)
        let reply = await exporter.collector.send(body, by: transport, within: limit, now: exporter.now())
        // A cancellation ends requests too; their failure does not concern the collector.
        guard !Task.isCancelled || reply.answer == .accepted else { return }
        exporter.metrics.sent(reply.answer)
        let fate = plan.answered(reply.answer, at: elapsed, chance: .random(in: 0...1))
        report(reply)
        switch fate {
        case .kept: return
        case .delivered: exporter.metrics.lost(min(reply.rejected, inHand.count), ExportPlan.Loss.refused.rawValue)
        case .lost(let loss): exporter.metrics.lost(inHand.count, loss.rawValue)
        }
        inHand = []
    }

    /// Sends each remaining span once, for as long as the collector accepts them.
    mutating func finish(within limit: Duration) async {
        let end = elapsed + limit
        var isTaken = true
        while isTaken, elapsed < end, !inHand.isEmpty || exporter.queue.count > 0 {
            await send(within: end - elapsed)
            isTaken = inHand.isEmpty
        }
        exporter.metrics.lost(inHand.count + exporter.queue.count, "shutdown")
        await transport.close()
    }

    private mutating func report(_ reply: Collector.Reply) {
        let trouble = reply.answer == .accepted ? nil : reply.trouble ?? ""
        exporter.answered(trouble)
        switch trouble.map({ outage.failed($0, at: elapsed) }) ?? outage.succeeded(at: elapsed) {
        case .failed(let reason):
            exporter.logger.warning(
                "collector.unavailable",
                "the collector does not take what it is sent; it is tried again, and what does not fit is dropped",
                metadata: [LogKey.detail: "traces: \(reason)"])
        case .recovered(let length):
            exporter.logger.notice(
                "collector.available", "the collector takes what it is sent again",
                metadata: [LogKey.detail: "traces", LogKey.outage: "\(Outage.text(length))"])
        case nil: break
        }
    }
}

/// The plan of the next request to a collector, and of the reaction to its answers: a value without clock or I/O. Times
/// are lengths since the plan was made.
struct ExportPlan: Sendable {
    /// The action that is due: send the spans in hand again or the next ones, or send nothing before a moment.
    enum Action: Equatable {
        case send
        case wait(until: Duration)
    }

    enum Answer: Equatable {
        case accepted
        /// The collector cannot accept it now, or cannot be reached. `retryAfter` is the wait that the collector asked
        /// for, if any.
        case busy(retryAfter: Duration? = nil)
        /// The collector does not want it, however often it is sent.
        case refused
    }

    enum Fate: Equatable {
        case delivered
        /// The spans must be sent again.
        case kept
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
    private static let linger = Duration.seconds(1)
    /// The number of times that spans are sent before they are given up: about a minute and a half.
    static let tries = 8
    /// The first pause and the longest; each is twice the one before, less a random part of up to a half.
    private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(60))
    /// The longest wait that is believed.
    private static let longestWish = Duration.seconds(300)

    private var nextSpans = Self.linger
    /// The moment before which nothing is sent.
    private var opening = Duration.zero
    private var failures = 0
    /// The number of times that the spans in hand were sent.
    private var sendings = 0

    /// - Parameter spans: the number of spans that wait.
    func next(at now: Duration, spans: Int) -> Action {
        guard now >= opening else { return .wait(until: opening) }
        if sendings > 0 || spans >= Self.spansAtOnce || spans > 0 && now >= nextSpans { return .send }
        // No signal announces new spans, so that ending a span costs nothing; the plan checks now and then.
        return .wait(until: now + Self.linger / 4)
    }

    /// Records the answer to a request, and returns the fate of the spans in it.
    ///
    /// - Parameter chance: anything from 0 to 1.
    mutating func answered(_ answer: Answer, at now: Duration, chance: Double) -> Fate {
        let fate: Fate
        switch answer {
        case .accepted:
            (opening, failures, fate) = (now, 0, .delivered)
        case .refused:
            fail(nil, now, chance)
            fate = .lost(.refused)
        case .busy(let wish):
            fail(wish, now, chance)
            sendings += 1
            fate = sendings < Self.tries ? .kept : .lost(.undelivered)
        }
        if fate != .kept { (sendings, nextSpans) = (0, now + Self.linger) }
        return fate
    }

    private mutating func fail(_ wish: Duration?, _ now: Duration, _ chance: Double) {
        let bound = min(Self.pauses.first * (1 << min(failures, 6)), Self.pauses.longest)
        let pause = bound - bound / 2 * min(max(chance, 0), 1)
        failures += 1
        opening = now + max(pause, min(wish ?? .zero, Self.longestWish))
    }
}
