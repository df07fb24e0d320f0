import Access
import AdapterKit
import Hummingbird
import Logging
import OTLP
import Serving
import Telemetry
import Wiring

/// The gateway's metrics. Labels are apps, calls and constant words; never a user, a token or a string from outside.
final class PickupMetrics: Sendable {
    let registry = MetricsRegistry()
    private let answers: CounterFamily
    private let refusals: CounterFamily
    private let drops: CounterFamily
    private let calls: HistogramFamily
    private let recovery: HistogramFamily
    private let waiting: GaugeFamily
    private let streams: GaugeFamily
    private let tokens: GaugeFamily
    private let bytes: GaugeFamily
    private let renewals: CounterFamily
    private let ready: GaugeFamily
    private let sessionKeysAge: GaugeFamily
    private let sessionKeysFailures: GaugeFamily
    private let sessionKeys: GaugeFamily
    private let certificateEnd: GaugeFamily
    private let start = ContinuousClock.now
    private let kafkaCertificateEnd: GaugeFamily
    let reloads: ReloadMetrics
    let export: ExportMetrics
    private let coldAsks: CounterFamily
    private let partitions: GaugeFamily
    private let past: CounterFamily
    /// Records that were read back and skipped.
    let unreadable: CounterFamily

    /// - Parameter build: the versions that `remint_build_info` has.
    init(build: BuildInfo = BuildInfo()) {
        build.expose(in: registry)
        ProcessMetrics.expose(in: registry)
        answers = registry.counter(
            "remint_pickup_answers_total", "Calls that the gateway answered, by call and status.",
            labels: ["call", "status"])
        refusals = registry.counter(
            "remint_pickup_refusals_total", "Callers that the gateway refused, by reason.", labels: ["reason"])
        drops = registry.counter(
            "remint_pickup_dropped_connections_total",
            "Connections that the gateway closed, by reason: head_timeout, body_timeout, body_too_large, unread_answers, too_many_pipelined_requests, too_many (all were in use), too_many_of_address, gave_way (it waited for its client, and a new connection needed its place), proxy_header.",
            labels: ["reason"])
        calls = registry.histogram(
            "remint_pickup_recovery_seconds", "Time from a report to the token that answers the report, in one call.",
            labels: ["app"],
            buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])
        recovery = registry.histogram(
            "remint_recovery_seconds", "Time from the first report of a failure until a device has its token.",
            labels: ["app"], buckets: RecoveryTime.buckets)
        waiting = registry.gauge("remint_pickup_waiting_calls", "Calls that wait for a token.")
        streams = registry.gauge("remint_pickup_streams", "Open streams.")
        tokens = registry.gauge("remint_pickup_cached_tokens", "Tokens that the gateway knows.")
        bytes = registry.gauge("remint_pickup_cache_bytes", "Memory for the tokens that the gateway knows, in bytes.")
        renewals = registry.counter(
            "remint_pickup_renewals_total",
            "Tokens that the gateway asked for, to replace tokens of open streams before they expire.",
            labels: ["app"])
        ready = registry.gauge(
            "remint_pickup_ready",
            "1 while the dependency is ready: brokers, tokens, events, workers, lane, clock, connections, sessions, certificate, gateway.",
            labels: ["dependency"])
        sessionKeysAge = registry.gauge(
            "remint_pickup_session_keys_age_seconds",
            "Seconds since the gateway last read the session issuer's keys, or since its start if it never read them; with several issuers, the highest value."
        )
        sessionKeysFailures = registry.gauge(
            "remint_pickup_session_keys_failed_fetches",
            "Failed fetches of the session issuer's keys since the last successful fetch; with several issuers, the highest value."
        )
        sessionKeys = registry.gauge(
            "remint_pickup_session_keys",
            "Keys of the session issuer with which the gateway checks sessions, 0 without any; with several issuers, the lowest value."
        )
        certificateEnd = registry.gauge(
            "remint_pickup_certificate_expiry_timestamp_seconds",
            "Time at which the certificate of pickup.tls expires, in seconds since 1970; absent without pickup.tls.")
        kafkaCertificateEnd = registry.gauge(
            "remint_kafka_client_certificate_expiry_timestamp_seconds",
            "Time at which the Kafka clients' own certificate expires, in seconds since 1970; absent without ssl.certificate.location."
        )
        reloads = ReloadMetrics(registry)
        export = ExportMetrics(registry)
        coldAsks = registry.counter(
            "remint_pickup_cold_asks_total",
            "Requests to the workers for a token that the gateway does not know, by fate: sent at once, queued, or refused (the caller must try again later).",
            labels: ["fate"])
        partitions = registry.gauge(
            "remint_pickup_followed_partitions", "Partitions of the token topic that the gateway follows live.")
        past = registry.counter(
            "remint_pickup_recalled_tokens_total",
            "Tokens from before the gateway's start that the gateway read from the token topic.")
        unreadable = UnreadableRecords.counter(in: registry)
    }

    /// Exposes the series of `apps`, before their first call.
    func begin(_ apps: some Sequence<String>) {
        for app in apps {
            calls.begin(app)
            recovery.begin(app)
            renewals.add(0, app)
        }
    }

    func answered(_ call: String, _ status: Int) { answers.add(1, call, "\(status)") }
    func refused(_ reason: String) { refusals.add(1, reason) }
    func dropped(_ reason: ConnectionGuard.Reason) { drops.add(1, reason.rawValue) }
    func answeredReport(_ app: String, after time: Duration) { calls.observe(time / .seconds(1), app) }
    /// Counts that a device was handed `token`; the first device of all ends the token's failure.
    func handedOver(_ token: HeldToken, _ app: String, at now: UnixTime) {
        if let seconds = token.recovery?.end(at: now) { recovery.observe(seconds, app) }
    }
    func asked(_ fate: ColdAsks.Fate) { coldAsks.add(1, fate.rawValue) }
    func recalled(_ count: Int) { past.add(count) }
    func renewed(_ app: String) { renewals.add(1, app) }

    func set(_ store: TokenStore) {
        let size = store.size
        waiting.set(Double(store.waiters.count))
        streams.set(Double(size.streams))
        tokens.set(Double(size.tokens))
        bytes.set(Double(size.bytes))
        let tail = store.tail
        partitions.set(tail.silentSince == nil ? Double(tail.followed.count) : 0)
    }

    func set(kafkaCertificateEnd end: UnixTime?) { if let end { kafkaCertificateEnd.set(Double(end.seconds)) } }

    func set(_ health: GatewayHealth) {
        let readiness = health.readiness
        let dependencies = readiness.dependencies.map { dependency, problem in
            ([dependency.rawValue], readiness.isMet(dependency, problem) ? 1.0 : 0)
        }
        ready.replace(Dictionary(dependencies) { first, _ in first })
        let sessions = health.sessions
        if let age = sessions.map({ $0.age ?? .now - start }).max() { sessionKeysAge.set(age / .seconds(1)) }
        if let failures = sessions.map(\.failures).max() { sessionKeysFailures.set(Double(failures)) }
        if let keys = sessions.map({ $0.isUsable ? $0.keys : 0 }).min() { sessionKeys.set(Double(keys)) }
        if let end = health.certificateEnd { certificateEnd.set(Double(end.seconds)) }
    }
}

extension PickupMetrics {
    /// Serves `/metrics`, and nothing else, until a graceful shutdown.
    ///
    /// - Parameter hosts: further names that requests may ask for in `Host`.
    func serve(_ host: String, _ port: Int, hosts: [String], _ logger: Logger) async throws {
        let server = OperatorServer(host: host, port: port, hosts: hosts, logger: logger)
        let router = server.router
        router.get("/metrics") { [registry] _, _ in OperatorServer.metrics(registry.exposition()) }
        do { try await server.run(router) } catch {
            throw PickupError.listening(at: host, port, named: "pickup.metrics", error)
        }
    }
}

/// Every metric of the gateway, for documentation.
public enum PickupMetricsCatalogue {
    /// A row for each metric, as Markdown: name, kind, labels, meaning.
    public static var table: [String] { PickupMetrics().registry.table }
}
