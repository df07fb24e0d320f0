public import Telemetry

/// The metrics of the export itself.
public struct ExportMetrics: Sendable {
    private let requests: CounterFamily
    private let lost: CounterFamily

    /// Makes its families.
    public init(_ registry: MetricsRegistry) {
        requests = registry.counter(
            "remint_telemetry_requests_total", "Requests to the collector, by result: accepted, busy, refused.",
            labels: ["signal", "result"])
        lost = registry.counter(
            "remint_telemetry_dropped_spans_total",
            "Spans that no collector has accepted, by reason: queue_full, refused, undelivered, shutdown.",
            labels: ["reason"])
    }

    /// Counts the spans that did not fit into `queue`.
    func follow(_ queue: SpanQueue, _ registry: MetricsRegistry) {
        registry.beforeReading { [lost] in
            let dropped = queue.takeDropped()
            if dropped > 0 { lost.add(dropped, "queue_full") }
        }
    }

    func sent(_ signal: ExportPlan.Signal, _ answer: ExportPlan.Answer) {
        requests.add(1, signal.rawValue, answer.name)
    }

    func lost(_ count: Int, _ reason: String) {
        if count > 0 { lost.add(count, reason) }
    }
}

extension ExportPlan.Answer {
    /// The answer's name in metrics.
    fileprivate var name: String {
        switch self {
        case .accepted: "accepted"
        case .busy: "busy"
        case .refused: "refused"
        }
    }
}
