package import Telemetry

/// The metrics of the signers that a worker asks, by their sockets.
package struct SignerMetrics: Sendable {
    /// The result of a request for signatures. A request has the signatures of many events.
    enum Result: String, Sendable, CaseIterable {
        /// Every signature was made.
        case signed
        /// The signer did not make some of the signatures, or made wrong ones.
        case refused
        /// The signer could not be asked, or the connection broke.
        case unreachable
        /// The answer did not come in time.
        case overdue
        /// The answer is not of the protocol.
        case malformed
    }

    private let requests: CounterFamily
    private let seconds: HistogramFamily
    private let reachable: GaugeFamily

    /// Adds the families to `registry`.
    package init(_ registry: MetricsRegistry) {
        let results = Result.allCases.map(\.rawValue).joined(separator: ", ")
        requests = registry.counter(
            "remint_signer_requests_total",
            "Requests for signatures that the worker sent to a signer, each for many events, by result: \(results).",
            labels: ["socket", "result"])
        seconds = registry.histogram(
            "remint_signer_request_duration_seconds", "Time from a request for signatures to the signer's answer.",
            labels: ["socket"], buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5])
        reachable = registry.gauge(
            "remint_signer_reachable", "1 while the worker is connected to the signer and knows its keys.",
            labels: ["socket"])
    }

    /// Exposes the series of the signer at `socket`, before the first request.
    func begin(_ socket: String) {
        for result in Result.allCases { requests.add(0, socket, result.rawValue) }
        seconds.begin(socket)
        reachable.set(0, socket)
    }

    /// Counts a request.
    ///
    /// - Parameter time: the time until the answer; nil if nothing was sent.
    func count(_ result: Result, at socket: String, after time: Duration?) {
        requests.add(1, socket, result.rawValue)
        if let time { seconds.observe(time / .seconds(1), socket) }
    }

    /// Sets whether the signer at `socket` can be asked.
    func set(isReachable: Bool, _ socket: String) { reachable.set(isReachable ? 1 : 0, socket) }
}
