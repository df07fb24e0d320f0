package import AdapterKit
package import Logging
package import Telemetry
package import WorkerConfiguration

/// Logs and counts the results of reloads, in the same words for worker and gateway.
package struct ReloadJournal: Sendable {
    /// The most names of keys in a log line.
    private static let mostNames = 20

    private let metrics: ReloadMetrics
    private let logger: Logger
    private let now: @Sendable () -> UnixTime

    /// Notes that the process starts with a configuration that is right.
    package init(_ metrics: ReloadMetrics, logger: Logger, now: @escaping @Sendable () -> UnixTime) {
        self.metrics = metrics
        self.logger = logger
        self.now = now
        metrics.started(at: now())
    }

    /// Logs that the file has errors, and that the previous configuration stays in force.
    package func refuse(_ diagnostics: [Diagnostic]) { refuse(Self.summary(of: diagnostics)) }

    /// Returns the first error of `diagnostics`, and the number of the others.
    package static func summary(of diagnostics: [Diagnostic]) -> String {
        let errors = diagnostics.filter { $0.severity == .error }
        let more = errors.count > 1 ? " (and \(errors.count - 1) more; list them: remint check)" : ""
        return "\(errors.first?.description ?? "it cannot be read")\(more)"
    }

    /// Logs that the configuration cannot be used because of `detail`, and that the previous one stays in force.
    package func refuse(_ detail: String) {
        metrics.note(.refused, at: now())
        logger.error(
            "reload.refused", "the configuration was read again and cannot be used; the one before goes on",
            metadata: [LogKey.detail: "\(detail)"])
    }

    /// Changes of `keys` wait for a restart.
    package func leave(_ keys: [String]) {
        guard !keys.isEmpty else { return }
        logger.warning(
            "reload.needs-restart", "the configuration has changes that need a restart; until then the old values hold",
            metadata: [LogKey.configurationKeys: "\(Self.list(keys))"])
    }

    /// Logs that the configuration did not change.
    package func passOver() {
        metrics.note(.unchanged, at: now())
        logger.notice("reload.unchanged", "the configuration was read again and changes nothing")
    }

    /// Logs that the changes of `keys` are in force.
    package func apply(_ keys: [String]) {
        metrics.note(.applied, at: now())
        logger.notice(
            "reload.applied", "the configuration was reloaded",
            metadata: [LogKey.configurationKeys: "\(Self.list(keys))"])
    }

    private static func list(_ names: [String]) -> String {
        let more = names.count > mostNames ? ", and \(names.count - mostNames) more" : ""
        return names.prefix(mostNames).joined(separator: ", ") + more
    }
}

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
