import AdapterKit
import HTTPTransport
import JOSE
import Logging
import Pipeline
import Signing
import Telemetry
import VendorLookup
import WorkerConfiguration

/// Takes what was read again to the worker that runs: says what is wrong with it or what it changes, and hands the loop what it
/// goes on by.
final class Reloader: Sendable {
    let running: RunningConfiguration
    private let signer: LocalSigner
    private let lookups: LookupClient
    private let status: WorkerStatus
    private let metrics: WorkerMetrics
    private let logLevel: LogLevel?
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    /// So many names of keys a log line has.
    private static let mostNames = 20

    /// - Parameters:
    ///   - signer: signs with the rings that are read from folders.
    ///   - lookups: asks the vendors.
    ///   - logLevel: what the process' log goes by; nil where that is not to change.
    init(
        _ running: RunningConfiguration, signer: LocalSigner, lookups: LookupClient, status: WorkerStatus,
        metrics: WorkerMetrics, logLevel: LogLevel?, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        self.running = running
        self.signer = signer
        self.lookups = lookups
        self.status = status
        self.metrics = metrics
        self.logLevel = logLevel
        self.logger = logger
        self.now = now
        metrics.reloads.started(at: now())
    }

    // MARK: The watcher's side

    /// The file was read again.
    func offer(_ preflight: Preflight) {
        guard let new = preflight.configuration, preflight.isReady else {
            let errors = preflight.diagnostics.filter { $0.severity == .error }
            let more = errors.count > 1 ? " (and \(errors.count - 1) more; remint check says them all)" : ""
            return refuse("\(errors.first?.description ?? "it cannot be read")\(more)")
        }
        while true {
            let (before, number) = running.numbered
            let plan = ReloadPlan(started: running.started, running: before, new: new)
            let reload: Reload?
            do throws(EndpointError) {
                reload = plan.isEmpty ? nil : try Reload(plan, preflight, running: before)
            } catch { return refuse("\(error)") }
            guard running.post(reload, to: number) else { continue }
            return posted(plan)
        }
    }

    private func posted(_ plan: ReloadPlan) {
        if !plan.needsRestart.isEmpty {
            logger.warning(
                "the configuration has changes that need a restart; until then the old values hold",
                metadata: [LogKey.configurationKeys: "\(Self.list(plan.needsRestart))"])
        }
        guard plan.isEmpty else { return }
        metrics.reloads.note(.unchanged, at: now())
        logger.notice("the configuration was read again and changes nothing")
    }

    private func refuse(_ detail: String) {
        metrics.reloads.note(.refused, at: now())
        logger.error(
            "the configuration was read again and cannot be used; the one before goes on",
            metadata: [LogKey.detail: "\(detail)"])
    }

    private static func list(_ names: [String]) -> String {
        let more = names.count > mostNames ? ", and \(names.count - mostNames) more" : ""
        return names.prefix(mostNames).joined(separator: ", ") + more
    }

    // MARK: The loop's side

    /// Brings the keys and the vendors' accounts that the loop is about to go by.
    func begin(_ reload: Reload) async {
        for ring in reload.rings {
            await signer.replace(ring)
            status.publish(ring)
        }
        lookups.goOn(with: reload.accounts)
    }

    /// The loop goes by it: what nobody needs any more goes.
    func end(_ reload: Reload) async {
        for ring in reload.goneRings {
            await signer.remove(ring)
            status.withdraw(ring)
        }
        let configuration = reload.plan.configuration
        metrics.keep(
            apps: Set(configuration.apps.map(\.name)),
            accounts: Set(configuration.apps.compactMap { $0.lookup?.account }))
        if let level = Logger.Level(rawValue: configuration.log.level) { logLevel?.set(level) }
        metrics.reloads.note(.applied, at: now())
        logger.notice(
            "the configuration was reloaded",
            metadata: [LogKey.configurationKeys: "\(Self.list(reload.plan.changes))"])
    }
}
