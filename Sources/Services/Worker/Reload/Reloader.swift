import AdapterKit
import HTTPTransport
import JOSE
import Logging
import Pipeline
import Preflight
import Signing
import Telemetry
import VendorLookup
import Wiring
import WorkerConfiguration

/// Brings a reloaded configuration to the running worker: logs its errors or its changes, and gives the loop the new
/// configuration.
final class Reloader: Sendable {
    let running: RunningConfiguration
    private let signer: LocalSigner
    private let lookups: LookupClient
    private let status: WorkerStatus
    private let metrics: WorkerMetrics
    private let logLevel: LogLevel?
    private let journal: ReloadJournal

    /// - Parameters:
    ///   - signer: The signer with the rings that are read from folders.
    ///   - lookups: The client of the vendors' APIs.
    ///   - logLevel: The level of the process' log; nil to leave it unchanged.
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
        journal = ReloadJournal(metrics.reloads, logger: logger, now: now)
    }

    // MARK: The watcher's side

    /// Offers a configuration that was read again to the loop.
    func offer(_ preflight: Preflight) {
        guard let new = preflight.configuration, preflight.isReady else {
            return refuse(ReloadJournal.summary(of: preflight.diagnostics))
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

    private func refuse(_ detail: String) {
        status.degradations.set(.configuration, "the configuration's file cannot be used: \(detail)")
        journal.refuse(detail)
    }

    private func posted(_ plan: ReloadPlan) {
        if plan.isEmpty { status.degradations.set(.configuration, nil) }
        journal.leave(plan.needsRestart)
        if plan.isEmpty { journal.passOver() }
    }

    // MARK: The loop's side

    /// Provides the keys and the vendors' accounts that the loop is about to use.
    func begin(_ reload: Reload) async {
        for ring in reload.rings {
            await signer.replace(ring)
            status.publish(ring)
        }
        running.provide(reload.plan.configuration)
        lookups.replaceAccounts(with: reload.accounts)
    }

    /// Removes the key rings and metric series that the new configuration dropped; the loop uses it by now.
    func end(_ reload: Reload) async {
        for ring in reload.goneRings {
            await signer.remove(ring)
            status.withdraw(ring)
        }
        let configuration = reload.plan.configuration
        metrics.keep(
            apps: Set(configuration.apps.map(\.name)),
            accounts: Set(configuration.apps.compactMap { $0.lookup?.account }))
        metrics.begin(configuration.apps)
        if let level = Logger.Level(rawValue: configuration.log.level) { logLevel?.set(level) }
        status.degradations.set(.configuration, nil)
        journal.apply(reload.plan.changes)
    }
}
