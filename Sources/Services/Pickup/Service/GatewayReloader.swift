import Access
import AdapterKit
@_spi(Decryption) import JOSE
import Logging
import NIOCore
import NIOSSL
import Serving
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
    private let replaced: @Sendable (PickupTerms) -> Void
    private let files: Mutex<[String: FileRevision?]>
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

/// The files that a gateway needs in addition to its configuration.
enum PickupFiles {
    /// Reads the private keys that open sealed tokens.
    ///
    /// - Throws: `PickupError` for a file that other accounts can read, or that holds no such key.
    static func sealKeys(_ pickup: Configuration.Pickup) throws(PickupError) -> [JWEDecryptionKey] {
        var keys: [JWEDecryptionKey] = []
        for path in pickup.sealKeys {
            let jwk: SecretBytes
            do { jwk = try GuardedFile.read(path) } catch {
                throw PickupError("pickup.seal_keys: \(path) \(error.message)")
            }
            do { keys.append(try JWEDecryptionKey(privateJWK: jwk)) } catch {
                throw PickupError("pickup.seal_keys: \(path) \(error.message)")
            }
        }
        return keys
    }

    /// Returns the nonces that proofs must name; nil where the configuration names no secret.
    ///
    /// - Throws: `PickupError` for a file that other accounts can read, and for a secret that is too short.
    static func nonces(_ pickup: Configuration.Pickup) throws(PickupError) -> ProofNonces? {
        guard let path = pickup.nonceSecret else { return nil }
        let secret: SecretBytes
        do { secret = try GuardedFile.read(path) } catch {
            throw PickupError("pickup.proof_nonce_secret: \(path) \(error.message)")
        }
        guard let nonces = ProofNonces(secret: secret) else {
            throw PickupError(
                "pickup.proof_nonce_secret: \(path) has fewer than \(ProofNonces.leastSecret) bytes; replace it: openssl rand -base64 48"
            )
        }
        return nonces
    }

    /// Returns the gateway's certificate; nil where the gateway speaks plain text.
    ///
    /// - Throws: `PickupError` for a key that other accounts can read, and where certificate and key cannot be used.
    static func tls(_ pickup: Configuration.Pickup) throws(PickupError) -> ServerCertificate? {
        guard let files = pickup.certificate else { return nil }
        do throws(WorkerError) { return try ServerCertificate.load(files, named: "pickup.tls") } catch {
            throw PickupError(error.description)
        }
    }
}

extension PickupFiles {
    /// A file that a gateway reads beside its configuration.
    struct Named {
        let key: String
        let path: String
        /// True if a change of the file applies only after a restart.
        var needsRestart = false
    }

    /// Returns every file that `pickup` names.
    ///
    /// - Parameter started: the gateway's section at the start, which names the certificate and the secret in use.
    static func all(of pickup: Configuration.Pickup, started: Configuration.Pickup) -> [Named] {
        let seals = pickup.sealKeys.map { Named(key: "pickup.seal_keys", path: $0) }
        let certificate = started.certificate.map { [$0.chain, $0.key] } ?? []
        let keySets = pickup.sessions.compactMap { session in
            session.keySetFile.map { Named(key: "pickup.\(session.name).jwks", path: $0) }
        }
        let secret = started.nonceSecret.map {
            Named(key: "pickup.proof_nonce_secret", path: $0, needsRestart: true)
        }
        return seals + certificate.map { Named(key: "pickup.tls", path: $0) } + keySets + (secret.map { [$0] } ?? [])
    }
}

// MARK: Checks

extension PickupFiles {
    /// Returns the reasons why `configuration` cannot be taken over. The content of a file of session keys is none: it
    /// may change at any time, and an issuer that has withdrawn its keys does not block other changes.
    static func reloadDiagnostics(for configuration: Configuration) -> [Diagnostic] {
        diagnostics(of: configuration) { session throws(PickupError) in _ = try KeySourceFile.document(of: session) }
    }

    /// Returns the problems of the gateway's files; empty where the configuration has no gateway.
    ///
    /// - Parameter keySet: checks the file of a session's keys.
    static func diagnostics(
        of configuration: Configuration, keySet: (Configuration.Pickup.Session) throws(PickupError) -> Void
    ) -> [Diagnostic] {
        guard let pickup = configuration.pickup, let place = pickup.place else { return [] }
        var diagnostics: [Diagnostic] = []
        func check(at own: FileLocation? = nil, _ body: () throws(PickupError) -> Void) {
            do throws(PickupError) { try body() } catch {
                diagnostics.append(Diagnostic(.error, at: own ?? place, "\(error)"))
            }
        }
        check { () throws(PickupError) in _ = try PickupFiles.sealKeys(pickup) }
        check { () throws(PickupError) in _ = try PickupFiles.nonces(pickup) }
        check { () throws(PickupError) in _ = try PickupFiles.tls(pickup) }
        for session in pickup.sessions where session.keySetFile != nil {
            check(at: pickup.keySetPlaces[session.name]) { () throws(PickupError) in try keySet(session) }
        }
        check { () throws(PickupError) in try DeviceApps(configuration, pickup).requireOne() }
        check { () throws(PickupError) in _ = try pickup.baseURL(of: pickup) }
        return diagnostics
    }
}

/// The certificate and key that devices see. Replaced files take effect with the next connection, without a restart.
final class ServedCertificate: Sendable {
    private let pickup: Configuration.Pickup
    private let current: Mutex<ServerCertificate>

    /// The certificate of `pickup`; nil where the gateway speaks plain text.
    ///
    /// - Throws: `PickupError` for a key that other accounts can read, and where certificate and key cannot be used.
    init?(_ pickup: Configuration.Pickup) throws(PickupError) {
        guard let first = try PickupFiles.tls(pickup) else { return nil }
        self.pickup = pickup
        current = Mutex(first)
    }

    /// The time when the certificate in use expires.
    var end: UnixTime { current.withLock { $0.end } }

    var configuration: TLSConfiguration {
        var configuration = current.withLock { $0.configuration }
        configuration.sslContextCallback = { [self] _, promise in
            let latest = current.withLock { $0.configuration }
            var change = NIOSSLContextConfigurationOverride()
            change.certificateChain = latest.certificateChain
            change.privateKey = latest.privateKey
            promise.succeed(change)
        }
        return configuration
    }

    /// Reads the files again.
    ///
    /// - Throws: `PickupError` where the files cannot be used; the previous ones stay in use.
    func reload() throws(PickupError) {
        guard let new = try PickupFiles.tls(pickup) else { return }
        current.withLock { $0 = new }
    }
}
