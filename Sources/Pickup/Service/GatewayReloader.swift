import Wiring
import AdapterKit
import JOSE
import Logging
import Synchronization
import Telemetry
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
        files = Mutex(Self.revisions(of: started.pickup, started.pickup))
    }

    /// The gateway's own files as they were when they were last used.
    var ownFiles: [String: FileRevision?] { files.withLock { $0 } }

    /// Returns the files that a gateway reads once beside the configuration: the keys of seals as `pickup` names them
    /// now, and the certificate's as they were named at the start.
    private static func revisions(
        of pickup: Configuration.Pickup?, _ started: Configuration.Pickup?
    ) -> [String: FileRevision?] {
        let certificate = started?.certificate.map { [$0.chain, $0.key] } ?? []
        let paths = (pickup?.sealKeys ?? []) + certificate
        return Dictionary(paths.map { ($0, FileRevision(of: $0)) }) { first, _ in first }
    }

    /// Reads the configuration again and takes it over.
    ///
    /// - Returns: the files that it was read from, and the gateway's own.
    func reload() -> [String: FileRevision?] {
        let (new, diagnostics, read) = origin.readAlone()
        let own = Self.revisions(of: new?.pickup ?? terms.current.configuration.pickup, started.pickup)
        take(new, diagnostics, own)
        return read.merging(own) { first, _ in first }
    }

    private func take(_ new: Configuration?, _ diagnostics: [Diagnostic], _ own: [String: FileRevision?]) {
        let diagnostics = diagnostics + (new.map(PickupService.reloadDiagnostics) ?? [])
        guard let new, !diagnostics.contains(where: { $0.severity == .error }) else {
            return journal.refuse(diagnostics)
        }
        let running = terms.current
        let plan = GatewayReloadPlan(started: started, running: running.configuration, new: new)
        let changes = plan.changes + changedFiles(own, new)
        do throws(PickupError) {
            let next = try maker.terms(plan.configuration, after: running)
            try certificate?.reload()
            terms.replace(with: next)
            files.withLock { $0 = own }
            replaced(next)
        } catch { return journal.refuse(error.description) }
        journal.leave(plan.needsRestart)
        if let level = Logger.Level(rawValue: new.log.level) { logLevel?.set(level) }
        changes.isEmpty ? journal.passOver() : journal.apply(changes)
    }

    /// Returns the keys whose files have changed since their last use, although their names are the same.
    private func changedFiles(_ own: [String: FileRevision?], _ new: Configuration) -> [String] {
        let known = ownFiles
        func isChanged(_ path: String) -> Bool { known[path].map { $0 != own[path] } ?? false }
        let certificate = started.pickup?.certificate.map { [$0.chain, $0.key] } ?? []
        return ((new.pickup?.sealKeys ?? []).contains(where: isChanged) ? ["pickup.seal_keys"] : [])
            + (certificate.contains(where: isChanged) ? ["pickup.tls"] : [])
    }
}
