package import AdapterKit
package import Telemetry

/// The metrics of reloads, named as Prometheus names its own.
package struct ReloadMetrics: Sendable {
    /// The result of a reload.
    package enum Result: String, CaseIterable, Sendable {
        /// The new configuration is in effect.
        case applied
        /// The new configuration changed nothing.
        case unchanged
        /// The new configuration has errors, and the previous one stays in effect.
        case refused
    }

    private let reloads: CounterFamily
    private let isSuccessful: GaugeFamily
    private let succeededAt: GaugeFamily

    /// Adds the families to `registry`.
    package init(_ registry: MetricsRegistry) {
        reloads = registry.counter(
            "remint_configuration_reloads_total",
            "Reloads of the configuration, by result: applied, unchanged, refused.", labels: ["result"])
        isSuccessful = registry.gauge(
            "remint_configuration_last_reload_successful",
            "0 while the process refuses the configuration's file and keeps the previous configuration.")
        succeededAt = registry.gauge(
            "remint_configuration_last_reload_success_timestamp_seconds",
            "Time at which the process last read a valid configuration, in seconds since 1970.")
    }

    /// Notes that the process starts with a valid configuration.
    package func started(at now: UnixTime) {
        for result in Result.allCases { reloads.add(0, result.rawValue) }
        succeeded(at: now)
    }

    /// Counts the result of a reload.
    package func note(_ result: Result, at now: UnixTime) {
        // Counted last, so that a reader that waits for the count finds the other values set.
        result == .refused ? isSuccessful.set(0) : succeeded(at: now)
        reloads.add(1, result.rawValue)
    }

    private func succeeded(at now: UnixTime) {
        isSuccessful.set(1)
        succeededAt.set(Double(now.microseconds) / 1e6)
    }
}
