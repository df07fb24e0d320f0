import AdapterKit
import JOSE
import Logging
import Synchronization
import Telemetry
import Wiring
import WorkerConfiguration

/// Brings a reloaded configuration to the running gateway: logs its errors or its changes.
final class GatewayReloader: Sendable {
    private let started: Configuration
    private let origin: ConfigurationOrigin
    private let terms: CurrentTerms
    private let maker: TermsMaker
    private let certificate: ServedCertificate?
    private let logLevel: LogLevel?
    private let journal: ReloadJournal
    /// Called with the terms that were taken over.
    private let replaced: @Sendable (PickupTerms) -> Void
    private let files: Mutex<[String: FileRevision?]>
    /// The files as they were at the start.
    private let startFiles: [String: FileRevision?]

    init(
        _ started: Configuration, origin: ConfigurationOrigin, terms: CurrentTerms, maker: TermsMaker,
        certificate: ServedCertificate?, logLevel: LogLevel?, journal: ReloadJournal,
        replaced: @escaping @Sendable (PickupTerms) -> Void
    ) {
        self.started = started
        self.origin = origin
        self.terms = terms
        self.maker = maker
        self.certificate = certificate
        self.logLevel = logLevel
        self.journal = journal
        self.replaced = replaced
        startFiles = Self.revisions(of: Self.named(started.pickup, started))
        files = Mutex(startFiles)
    }

    /// The gateway's own files as they were when they were last used.
    var ownFiles: [String: FileRevision?] { files.withLock { $0 } }

    private static func named(
        _ pickup: Configuration.Pickup?, _ started: Configuration
    ) -> [PickupFiles.Named] {
        pickup.flatMap { pickup in started.pickup.map { PickupFiles.all(of: pickup, started: $0) } } ?? []
    }

    private static func revisions(of files: [PickupFiles.Named]) -> [String: FileRevision?] {
        Dictionary(files.map { ($0.path, FileRevision(of: $0.path)) }) { first, _ in first }
    }

    /// Reads the configuration again and takes it over, and requests the session issuers' keys: a key that was withdrawn
    /// must not count on, whether the configuration changed or not.
    ///
    /// - Returns: the files that it was read from, and the gateway's own.
    func reload() -> [String: FileRevision?] {
        let (new, diagnostics, read) = origin.readAlone()
        let named = Self.named(new?.pickup ?? terms.current.configuration.pickup, started)
        let own = Self.revisions(of: named)
        take(new, diagnostics, named, own)
        for source in terms.current.sources { source.refresh() }
        return read.merging(own) { first, _ in first }
    }

    private func take(
        _ new: Configuration?, _ diagnostics: [Diagnostic], _ named: [PickupFiles.Named],
        _ own: [String: FileRevision?]
    ) {
        let diagnostics = diagnostics + (new.map(PickupFiles.reloadDiagnostics) ?? [])
        guard let new, !diagnostics.contains(where: { $0.severity == .error }) else {
            return journal.refuse(diagnostics)
        }
        let running = terms.current
        let plan = GatewayReloadPlan(started: started, running: running.configuration, new: new)
        let known = ownFiles
        let changes = plan.changes + Self.changed(named.filter { !$0.needsRestart }, from: known, to: own)
        do throws(PickupError) {
            let next = try maker.terms(plan.configuration, after: running)
            try certificate?.reload()
            terms.replace(with: next)
            files.withLock { $0 = own }
            replaced(next)
        } catch { return journal.refuse(error.description) }
        journal.leave(
            plan.needsRestart + Self.changed(named.filter(\.needsRestart), from: startFiles, to: own))
        if let level = Logger.Level(rawValue: new.log.level) { logLevel?.set(level) }
        changes.isEmpty ? journal.passOver() : journal.apply(changes)
    }

    /// Returns the keys whose files have changed, although their names are the same.
    private static func changed(
        _ files: [PickupFiles.Named], from before: [String: FileRevision?], to now: [String: FileRevision?]
    ) -> [String] {
        var keys: [String] = []
        for file in files where before[file.path].map({ $0 != now[file.path] }) ?? false {
            if !keys.contains(file.key) { keys.append(file.key) }
        }
        return keys
    }
}
