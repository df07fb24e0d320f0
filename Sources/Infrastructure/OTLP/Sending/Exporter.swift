public import Formats
import HTTPTransport
public import Logging
public import Spans
public import Telemetry

/// Sends a process's spans and metrics to a collector, by OTLP over HTTP. No other task waits for it: items that it
/// cannot send in time are counted and dropped.
public struct Exporter: Sendable {
    /// The time for sending the remaining items at the end, where the caller names no other.
    public static let standardLastWord = Duration.seconds(2)

    let collector: Collector
    let interval: Duration
    let queue: SpanQueue
    let registry: MetricsRegistry
    let metrics: ExportMetrics
    let resource: @Sendable () -> [EndedSpan.Attribute]
    let logger: Logger
    let now: @Sendable () -> UnixTime
    let answered: @Sendable (_ signal: String, _ trouble: String?) -> Void
    private let lastWord: Duration

    /// - Parameters:
    ///   - interval: the time between two requests with metrics.
    ///   - queue: the source of spans.
    ///   - registry: the source of metrics.
    ///   - metrics: the metrics of the export itself, in the same registry.
    ///   - resource: returns the attributes of the process, for each request.
    ///   - answered: a function that gets the collector's trouble with each request, by signal; nil where it accepts.
    ///   - lastWord: the time for sending the remaining items at the end.
    public init(
        to collector: Collector, every interval: Duration, queue: SpanQueue, registry: MetricsRegistry,
        metrics: ExportMetrics, resource: @escaping @Sendable () -> [EndedSpan.Attribute], logger: Logger,
        now: @escaping @Sendable () -> UnixTime,
        answered: @escaping @Sendable (_ signal: String, _ trouble: String?) -> Void = { _, _ in },
        lastWord: Duration = Self.standardLastWord
    ) {
        self.answered = answered
        self.collector = collector
        self.interval = interval
        self.queue = queue
        self.registry = registry
        self.metrics = metrics
        self.resource = resource
        self.logger = logger
        self.now = now
        self.lastWord = lastWord
        metrics.follow(queue, registry)
    }

    /// Sends until the task is canceled, and then for a moment the remaining items. To be called once.
    public func run() async {
        var work = ExportWork(self)
        while !Task.isCancelled {
            switch work.next {
            case .send(let signal): await work.send(signal, within: collector.timeout)
            case .wait(let length): try? await Task.sleep(for: length)
            }
        }
        // In a task of its own, which is not canceled.
        await Task { [work] in
            var work = work
            await work.finish(within: lastWord)
        }.value
    }
}

/// An export under way.
private struct ExportWork: Sendable {
    /// The step that is due.
    enum Step {
        case send(ExportPlan.Signal)
        case wait(Duration)
    }

    private let exporter: Exporter
    private let transport: HTTPTransport
    private let epoch = ContinuousClock.now
    private let start: UnixTime
    private var plan: ExportPlan
    /// A collector may take one signal and nothing of the other.
    private var outages: [ExportPlan.Signal: Outage] = [:]
    /// The spans that are to be sent again.
    private var inHand: [EndedSpan] = []

    init(_ exporter: Exporter) {
        self.exporter = exporter
        transport = exporter.collector.makeTransport()
        start = exporter.now()
        plan = ExportPlan(interval: exporter.interval, at: .zero)
    }

    private var elapsed: Duration { .now - epoch }

    var next: Step {
        let now = elapsed
        return switch plan.next(at: now, spans: exporter.queue.count) {
        case .send(let signal): .send(signal)
        case .wait(let moment): .wait(moment - now)
        }
    }

    mutating func send(_ signal: ExportPlan.Signal, within limit: Duration) async {
        if signal == .traces, inHand.isEmpty { inHand = exporter.queue.take(ExportPlan.spansAtOnce) }
        let reply = await exporter.collector.send(
            body(of: signal), of: signal, by: transport, within: limit, now: exporter.now())
        // A cancellation ends requests too; their failure does not concern the collector.
        guard !Task.isCancelled || reply.answer == .accepted else { return }
        exporter.metrics.sent(signal, reply.answer)
        let fate = plan.answered(reply.answer, to: signal, at: elapsed, chance: .random(in: 0...1))
        report(signal, reply)
        guard signal == .traces else { return }
        switch fate {
        case .kept: return
        case .delivered: exporter.metrics.lost(min(reply.rejected, inHand.count), ExportPlan.Loss.refused.rawValue)
        case .lost(let loss): exporter.metrics.lost(inHand.count, loss.rawValue)
        }
        inHand = []
    }

    /// Sends each remaining item once, for as long as the collector accepts them.
    mutating func finish(within limit: Duration) async {
        let end = elapsed + limit
        var isTaken = true
        while isTaken, elapsed < end, !inHand.isEmpty || exporter.queue.count > 0 {
            await send(.traces, within: end - elapsed)
            isTaken = inHand.isEmpty
        }
        if isTaken, elapsed < end { await send(.metrics, within: end - elapsed) }
        exporter.metrics.lost(inHand.count + exporter.queue.count, "shutdown")
        await transport.close()
    }

    private func body(of signal: ExportPlan.Signal) -> [UInt8] {
        let request = ExportRequest(resource: exporter.resource())
        return switch signal {
        case .traces: request.json(of: inHand)
        case .metrics:
            MetricsRequest(start: start, time: exporter.now()).json(of: exporter.registry.read(), in: request)
        }
    }

    private mutating func report(_ signal: ExportPlan.Signal, _ reply: Collector.Reply) {
        let trouble = reply.answer == .accepted ? nil : reply.trouble ?? ""
        exporter.answered("\(signal)", trouble)
        let notice =
            trouble.map { outages[signal, default: Outage()].failed($0, at: elapsed) }
            ?? outages[signal, default: Outage()].succeeded(at: elapsed)
        switch notice {
        case .failed(let reason):
            exporter.logger.warning(
                "collector.unavailable",
                "the collector does not take what it is sent; it is tried again, and what does not fit is dropped",
                metadata: [LogKey.detail: "\(signal): \(reason)"])
        case .recovered(let length):
            exporter.logger.notice(
                "collector.available", "the collector takes what it is sent again",
                metadata: [LogKey.detail: "\(signal)", LogKey.outage: "\(Outage.text(length))"])
        case nil: break
        }
    }
}
