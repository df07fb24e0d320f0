package import AdapterKit
package import Logging
import Telemetry
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
