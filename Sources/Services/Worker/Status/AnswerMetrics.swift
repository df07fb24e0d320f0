import AdapterKit
import Pipeline
import Telemetry
import Wiring

/// The times from report to published token, by app.
struct AnswerMetrics: Sendable {
    private let seconds: HistogramFamily

    init(_ registry: MetricsRegistry) {
        seconds = registry.histogram(
            "remint_answer_seconds", "Time from the first report of a failure until its token is on the token topic.",
            labels: ["app"], buckets: RecoveryTime.buckets)
    }

    /// Exposes the series of `app`, before its first token.
    func begin(_ app: String) { seconds.begin(app) }

    /// Counts the outcomes of a transaction that is visible.
    func count(_ settlements: some Sequence<Settlement>, at now: UnixTime) {
        var times: [String: [Double]] = [:]
        for settlement in settlements {
            guard let reported = settlement.reportedAt, let app = settlement.app else { continue }
            times[app, default: []].append(RecoveryTime.seconds(from: reported, to: now))
        }
        for (app, times) in times { seconds.observe(times, [app]) }
    }
}
