import Pipeline
import Telemetry

/// The metrics of the look-ups. Accounts are named by the first app that has them.
struct LookupMetrics: Sendable {
    private let requests = CounterFamily(
        "remint_lookup_requests_total",
        "Requests to a vendor's REST API, by result: \(LookupMetrics.results.joined(separator: ", ")).",
        labels: ["account", "result"])
    private let verdicts = CounterFamily(
        "remint_lookup_verdicts_total",
        "The vendor's verdicts on users: \(LookupMetrics.verdicts.joined(separator: ", ")).",
        labels: ["app", "verdict"])
    private let hits = CounterFamily(
        "remint_lookup_cache_hits_total", "Events for which the vendor's answer was in the cache.", labels: ["app"])
    private let duration = HistogramFamily(
        "remint_lookup_duration_seconds", "Time from the start of a request to its answer.", labels: ["account"],
        buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120])
    private let openings = CounterFamily(
        "remint_lookup_circuit_openings_total",
        "Times that the circuit of a vendor opened, because requests failed or because the vendor refused the credentials.",
        labels: ["account"])
    let circuit = GaugeFamily(
        "remint_lookup_circuit",
        "1 for the current state of the vendor's circuit, 0 for the other states: closed, half_open, open.",
        labels: ["account", "state"])
    let waiting = GaugeFamily(
        "remint_lookup_queued_users", "Users that the worker has not asked the vendor about yet.",
        labels: ["account"])
    let inFlight = GaugeFamily(
        "remint_lookup_requests_in_flight", "Requests that have no answer yet.", labels: ["account"])
    private let remembered = GaugeFamily("remint_lookup_cache_answers", "Vendors' answers in the cache.")
    let parked = GaugeFamily(
        "remint_lookup_waiting_events", "Events that wait for a vendor's answer and are not in a retry tier.")
    private static let circuits = ["closed", "half_open", "open"]
    private static let results = [
        "answered", "throttled", "unavailable", "misconfigured", "unreadable", "mismatched",
    ]
    private static let verdicts = ["exists", "gone", "unknown"]

    init(_ registry: MetricsRegistry) {
        registry.add(familiesOf: self)
    }

    /// Exposes the counts of `app` and of its account, before the first request.
    func begin(_ app: String, _ account: String) {
        for result in Self.results { requests.add(0, account, result) }
        for verdict in Self.verdicts { verdicts.add(0, app, verdict) }
        hits.add(0, app)
        openings.add(0, account)
        duration.begin(account)
    }

    func add(_ tally: LookupTally) {
        requests.add(tally.requests)
        verdicts.add(tally.verdicts)
        hits.add(tally.hits)
        for case .opened(let account, _) in tally.notices { openings.add(1, account) }
        for (account, seconds) in tally.seconds { duration.observe(seconds, [account]) }
    }

    /// Replaces the state of all accounts: those that are no more go with their apps.
    func set(_ conditions: [LookupCondition], remembered count: Int) {
        circuit.replace(
            conditions.flatMap { condition in
                Self.circuits.map { ([condition.account, $0], $0 == condition.circuit ? 1.0 : 0) }
            })
        waiting.replace(conditions.map { ([$0.account], Double($0.waiting)) })
        inFlight.replace(conditions.map { ([$0.account], Double($0.inFlight)) })
        remembered.set(Double(count))
    }
}
