import AdapterKit
import BrokerTokens
import Synchronization
import Telemetry

struct TokenMetrics: Sendable {
    private let tokens: CounterFamily
    private let life: GaugeFamily

    init(_ registry: MetricsRegistry) {
        tokens = registry.counter(
            "remint_kafka_tokens_total", "Attempts to get a token for the brokers, by result: obtained, failed.",
            labels: ["result"])
        life = registry.gauge(
            "remint_kafka_token_remaining_seconds",
            "Seconds until the token for the brokers expires; absent without kafka.oauth.")
    }

    /// Writes `tally` to the metrics each time they are read.
    func follow(_ tally: TokenTally, _ registry: MetricsRegistry, now: @escaping @Sendable () -> UnixTime) {
        let told = WrittenCounts()
        registry.beforeReading { [tokens, life] in
            let (obtained, failed) = told.advance(to: tally.counts)
            tokens.add(obtained, "obtained")
            tokens.add(failed, "failed")
            if let expiry = tally.expiry { life.set(max(0, Double(expiry.microseconds(since: now())) / 1e6)) }
        }
    }
}

/// The part of a tally that the counters already contain.
private final class WrittenCounts: Sendable {
    private let written = Mutex<(obtained: Int, failed: Int)>((0, 0))

    /// Returns the increase since the last call.
    func advance(to counts: (obtained: Int, failed: Int)) -> (obtained: Int, failed: Int) {
        written.withLock { written in
            defer { written = counts }
            return (counts.obtained - written.obtained, counts.failed - written.failed)
        }
    }
}
