import Access
import AdapterKit
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import OTLP
import Serving
import Telemetry
import Wiring

/// The gateway's metrics. Labels are apps, calls and constant words; never a user, a token or a text from outside.
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
    /// The number of reloads of the configuration.
    let reloads: ReloadMetrics
    /// The metrics of the export to a collector.
    let export: ExportMetrics
    private let coldAsks: CounterFamily
    private let partitions: GaugeFamily
    private let past: CounterFamily
    /// Records that were read back and skipped.
    let unreadable: CounterFamily

    init() {
        answers = registry.counter(
            "remint_pickup_answers_total", "Calls answered, by call and status.", labels: ["call", "status"])
        refusals = registry.counter(
            "remint_pickup_refusals_total", "Callers refused, by reason.", labels: ["reason"])
        drops = registry.counter(
            "remint_pickup_dropped_connections_total",
            "Connections closed: a head or a body came late or had no end, answers were not read, more are open than may be, or another one took the place of one that waited for its client.",
            labels: ["reason"])
        calls = registry.histogram(
            "remint_pickup_recovery_seconds", "From a report to the token that answers it, in one call.",
            labels: ["app"],
            buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])
        recovery = registry.histogram(
            "remint_recovery_seconds", "From the first report of a failure to its token in a device's hands.",
            labels: ["app"], buckets: RecoveryTime.buckets)
        waiting = registry.gauge("remint_pickup_waiting_calls", "Calls that wait for a token.")
        streams = registry.gauge("remint_pickup_streams", "Open streams.")
        tokens = registry.gauge("remint_pickup_cached_tokens", "Tokens known.")
        bytes = registry.gauge("remint_pickup_cache_bytes", "Memory of the tokens known.")
        renewals = registry.counter(
            "remint_pickup_renewals_total", "Tokens asked for because a connected device's is about to end.",
            labels: ["app"])
        ready = registry.gauge(
            "remint_pickup_ready",
            "1 while the gateway has what it needs, by dependency: brokers, tokens, events, workers, lane, clock, sessions, certificate, gateway.",
            labels: ["dependency"])
        sessionKeysAge = registry.gauge(
            "remint_pickup_session_keys_age_seconds",
            "Since the session issuer's keys were last read, since the start where they never were; of several issuers the longest."
        )
        sessionKeysFailures = registry.gauge(
            "remint_pickup_session_keys_failed_fetches",
            "Fetches of the session issuer's keys that failed since the last that did not; of several issuers the most."
        )
        sessionKeys = registry.gauge(
            "remint_pickup_session_keys",
            "Keys of the session issuer that sessions are checked with, 0 without any; of several issuers the fewest.")
        certificateEnd = registry.gauge(
            "remint_pickup_certificate_expiry_timestamp_seconds",
            "When the certificate of pickup.tls expires, in seconds since 1970; absent without one.")
        kafkaCertificateEnd = registry.gauge(
            "remint_kafka_client_certificate_expiry_timestamp_seconds",
            "When the Kafka clients' own certificate ends, in seconds since 1970; absent without ssl.certificate.location."
        )
        reloads = ReloadMetrics(registry)
        export = ExportMetrics(registry)
        coldAsks = registry.counter(
            "remint_pickup_cold_asks_total",
            "Requests for users without a known token: asked for at once, queued, or refused until later.",
            labels: ["fate"])
        partitions = registry.gauge("remint_pickup_followed_partitions", "Partitions of the token topic followed live.")
        past = registry.counter(
            "remint_pickup_recalled_tokens_total", "Tokens read out of the token topic's past, newest first.")
        unreadable = UnreadableRecords.counter(in: registry)
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

    func set(_ desk: TokenDesk) {
        let size = desk.size
        waiting.set(Double(desk.room.count))
        streams.set(Double(size.streams))
        tokens.set(Double(size.tokens))
        bytes.set(Double(size.bytes))
        let tail = desk.tail
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
    func serve(_ host: String, _ port: Int, _ logger: Logger) async throws {
        var quiet = logger
        quiet.logLevel = .critical
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("/metrics") { [registry] _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: registry.exposition())))
        }
        let application = Application(
            router: router, server: .arrivals(),
            configuration: .init(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(OpenFiles.operators, logger: quiet)),
            logger: quiet)
        do { try await application.run() } catch {
            throw PickupError.listening(at: host, port, named: "pickup.metrics", error)
        }
    }
}

/// Every metric of the gateway, for documentation.
public enum PickupMetricsCatalogue {
    /// A row for each metric, as Markdown: name, kind, labels, meaning.
    public static var table: [String] { PickupMetrics().registry.table }
}
