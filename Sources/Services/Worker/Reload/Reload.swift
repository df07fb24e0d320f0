import AdapterKit
import HTTPTransport
import JOSE
import Keyring
import Logging
import Pipeline
import Preflight
import Signing
import Synchronization
import Telemetry
import VendorLookup
import Wiring
import WorkerConfiguration

/// A configuration that a running worker can switch to. All checks that could refuse it are done.
struct Reload: Sendable {
    let plan: ReloadPlan
    /// The key rings that are new or come from another folder.
    let rings: [KeyRing]
    /// The revisions of their listings, taken just before they were read.
    let revisions: [String: FileRevision?]
    let goneRings: [String]
    let accounts: LookupAccounts
    let succession: LookupSuccession

    /// - Parameters:
    ///   - preflight: The file that was read again, without errors.
    ///   - running: The effective configuration.
    /// - Throws: `EndpointError` if an endpoint cannot be used.
    init(_ plan: ReloadPlan, _ preflight: Preflight, running: Configuration) throws(EndpointError) {
        self.plan = plan
        let paths = Dictionary(running.keys.map { ($0.name, $0.path) }) { first, _ in first }
        let fresh = plan.configuration.keys.filter { $0.path != nil && paths[$0.name] != $0.path }
        rings = fresh.compactMap { preflight.rings[$0.name] }
        let folders = Set(fresh.compactMap(\.path))
        revisions = preflight.revisions.filter { folders.contains($0.key) }
        goneRings = running.keys.filter { key in
            key.path != nil && !plan.configuration.keys.contains { $0.name == key.name }
        }.map(\.name)
        succession = LookupSuccession(
            from: VendorLookups.fingerprints(running), to: VendorLookups.fingerprints(plan.configuration))
        accounts = try LookupAccounts(
            VendorLookups.endpoints(plan.configuration), keeping: succession.kept)
    }

    /// Returns the new settings for the pipeline of the worker called `name`.
    ///
    /// - Parameter reserved: Topics that are consumed for single apps, whether these apps still exist or not.
    func terms(worker name: String, reserved: [String]) -> ProcessorTerms {
        let configuration = plan.configuration
        return ProcessorTerms(
            apps: configuration.pipelineApps, unchanged: plan.unchangedApps, reservedTopics: Set(reserved),
            maximumEventBytes: configuration.worker.maximumEventBytes,
            admission: configuration.admissionRules(worker: name), retries: configuration.retryPolicy,
            accounts: VendorLookups.accounts(configuration), accountsBefore: succession.before,
            fixedAccounts: succession.fixed, rememberedAnswers: configuration.worker.lookups.cache)
    }
}

/// The look-up accounts that continue after a reload, and their new names. An account has the name of the first app
/// that uses it, so its name changes if that app is removed. Its limits must not change.
struct LookupSuccession: Sendable, Equatable {
    typealias Account = (name: String, fingerprint: Fingerprint)

    /// The former names of accounts that continue, by their new names.
    private(set) var before: [String: String] = [:]
    private(set) var fixed: Set<String> = []

    /// The former names of the accounts that continue unchanged, by their new names.
    var kept: [String: String] { before.filter { !fixed.contains($0.key) } }

    init(from old: [Account], to new: [Account]) {
        var left = old
        func take(_ account: Account, where fits: (Account) -> Bool) {
            guard before[account.name] == nil, let place = left.firstIndex(where: fits) else { return }
            before[account.name] = left.remove(at: place).name
        }
        // First what is the same altogether; then what is the same under another name; then who is asked otherwise.
        for account in new {
            take(account) { $0.name == account.name && $0.fingerprint == account.fingerprint }
        }
        for account in new { take(account) { $0.fingerprint == account.fingerprint } }
        for account in new where before[account.name] == nil {
            take(account) { $0.name == account.name }
            if before[account.name] != nil { fixed.insert(account.name) }
        }
    }
}

/// The effective configuration of a worker, and the next one: the watcher posts it, the loop takes it between two
/// batches.
final class RunningConfiguration: Sendable {
    private struct State: Sendable {
        var current: Configuration
        var provided: Configuration
        /// Grows with each change of `current`.
        var number = 0
        /// The listings of the rings in use, as they were when these were loaded.
        var revisions: [String: FileRevision?]
        var next: Reload?
    }

    /// The configuration that the worker was started with. Keys that need a restart have their effective values here.
    let started: Configuration
    private let state: Mutex<State>

    /// - Parameter revisions: the listings of the rings as they were when the rings were loaded.
    init(_ configuration: Configuration, revisions: [String: FileRevision?]) {
        started = configuration
        state = Mutex(State(current: configuration, provided: configuration, revisions: revisions))
    }

    var current: Configuration { state.withLock { $0.current } }

    /// The newest configuration whose keys the signer has: at a reload, the former one until the new rings are loaded.
    var provided: Configuration { state.withLock { $0.provided } }

    /// Notes that the signer has the keys of `configuration`.
    func provide(_ configuration: Configuration) { state.withLock { $0.provided = configuration } }

    var numbered: (configuration: Configuration, number: Int) { state.withLock { ($0.current, $0.number) } }

    var rings: KeyRingWatcher.Watched {
        state.withLock { KeyRingWatcher.Watched($0.current.watchedRings, revisions: $0.revisions) }
    }

    /// Posts `reload` for the loop, in place of one that the loop has not taken yet. With nil, the loop changes
    /// nothing.
    ///
    /// - Parameter number: the number of the configuration that was compared.
    /// - Returns: False if the effective configuration has changed since.
    func post(_ reload: Reload?, to number: Int) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            state.next = reload
            return true
        }
    }

    /// Makes the posted reload effective and returns it; nil if nothing was posted.
    func take() -> Reload? {
        state.withLock { state in
            guard let next = state.next else { return nil }
            state.next = nil
            state.current = next.plan.configuration
            state.number += 1
            let paths = Set(state.current.keys.compactMap(\.path))
            state.revisions = state.revisions.merging(next.revisions) { $1 }.filter { paths.contains($0.key) }
            return next
        }
    }
}

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
