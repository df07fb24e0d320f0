public import AdapterKit
import Formats
package import JOSE
public import Keyring
import Serving
import Signing
import Wiring
public import WorkerConfiguration

/// Everything that can be known about a configuration before the first connection: the file, the keys, and whether they
/// fit together.
public struct Preflight: Sendable {
    /// The configuration, where it can be read.
    public let configuration: Configuration?
    /// The key rings that could be loaded, by name; none that a signer holds.
    public let rings: [String: KeyRing]
    /// The files that were read or looked for, the configuration's own among them, as they were just before; nil for one that was
    /// not there.
    package let files: [String: FileRevision?]
    /// The listings of the key rings' folders, as they were just before they were read.
    package let revisions: [String: FileRevision?]
    /// The errors and warnings found.
    public let diagnostics: [Diagnostic]

    /// Whether a worker may start.
    public var isReady: Bool { configuration != nil && !diagnostics.contains { $0.severity == .error } }
    /// Whether every error is in a file that the configuration names, such as a key ring that is being written, a file without
    /// access or a certificate: a later start may succeed without a change of the configuration.
    public let mayHeal: Bool

    /// A one-line summary of the worker's configuration; nil if it may not start.
    public var summary: String? {
        guard isReady, let configuration else { return nil }
        let asking = configuration.apps.count { $0.lookup != nil }
        let behindSigners = configuration.keys.count { $0.signer != nil }
        let parts = [
            configuration.apps.count.of("app"), asking == 0 ? nil : "\(asking) with look-ups",
            rings.count.of("key ring"),
            // These could not be looked at here.
            behindSigners == 0 ? nil : "\(behindSigners) behind a signer and not looked at",
            "delivery \(configuration.delivery.rawValue)",
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    /// Returns the notices: settings that are as they were meant and have a consequence to know, facts that nobody knows of
    /// a vendor, and keys and certificates that end. An error among them fails the check, and keeps no worker from starting.
    public func notices(at now: UnixTime) -> [Diagnostic] {
        let apps = configuration?.apps ?? []
        return apps.flatMap(\.missingFacts)
            + RepeatedKeys.diagnostics(of: configuration?.keys ?? [])
            + (configuration.map(DoubtfulSettings.diagnostics) ?? [])
            + (configuration?.keys ?? []).flatMap(DoubtfulSettings.secrets)
            + (configuration?.keys ?? []).flatMap(Self.oddIDs)
            + (configuration?.keys ?? []).flatMap(Self.repeatedKids)
            + (configuration?.keys ?? []).flatMap(Self.revivedVersions)
            + ends(at: now)
            + apps.filter { $0.identity == .reported && !$0.hasWrittenIdentity }.map(Self.reportedIdentity)
    }

    private static let reportedIdentities = Diagnostic.Kind(
        "apps believe a report about who its user is; let the edge vouch, and write identity: vouched")

    /// Returns the notice about an app whose configuration leaves the source of the user out.
    private static func reportedIdentity(of app: Configuration.App) -> Diagnostic {
        Diagnostic(
            .notice, at: app.keyPlace,
            "apps.\(app.name) believes a report about who its user is; let the edge vouch, and write identity: vouched, or accept this and write identity: reported",
            kind: reportedIdentities)
    }

    /// Reads and checks `file`.
    ///
    /// - Parameter known: a configuration that was checked before: where its Kafka clients would be the same, none are made to see
    ///   whether they can be.
    package init(
        file: String, registry: AdapterRegistry, source: ConfigurationSource, known: Configuration? = nil
    ) {
        let (draft, isWhole, diagnostics, files) = ConfigurationReader(registry: registry, source: source)
            .readDraft(file)
        let configuration = isWhole ? draft : nil
        self.configuration = configuration
        self.files = files
        guard let configuration else {
            // Rings and single properties depend on nothing else, so that their errors are found in the same run.
            self.diagnostics = diagnostics + (draft.map(Self.independentDiagnostics) ?? [])
            rings = [:]
            revisions = [:]
            mayHeal = false
            return
        }
        revisions = KeyRingWatcher.revisions(of: configuration.watchedRings)
        let (rings, keyDiagnostics) = Self.load(configuration.keys)
        self.rings = rings
        let brokerFiles = BrokerFiles.diagnostics(for: configuration)
        let clients = Self.clientDiagnostics(of: configuration, known, hasFiles: brokerFiles.isEmpty)
        let policies = configuration.apps.flatMap { Self.check($0, configuration.keys) }
        mayHeal = !(diagnostics + clients + policies).contains { $0.severity == .error }
        self.diagnostics =
            diagnostics + brokerFiles + clients + keyDiagnostics
            + LookupFiles.diagnostics(for: configuration.apps, source: source)
            + Self.certificateDiagnostics(of: configuration.admin)
            + configuration.apps.flatMap { app in rings[app.key].map { app.misfits(of: $0) } ?? [] } + policies
    }

    /// Returns the errors in the rings and in single properties of a configuration that has other errors.
    private static func independentDiagnostics(of draft: Configuration) -> [Diagnostic] {
        KafkaProperties.diagnostics(for: draft, withClients: false) + load(draft.keys).1
    }

    /// Returns the diagnostics of the clients. A file that cannot be used is reported with its remedy, and not once
    /// more with librdkafka's message.
    private static func clientDiagnostics(
        of configuration: Configuration, _ known: Configuration?, hasFiles: Bool
    ) -> [Diagnostic] {
        guard known?.hasClients(of: configuration) != true else { return [] }
        return KafkaProperties.diagnostics(for: configuration, withClients: hasFiles)
    }

    private static func certificateDiagnostics(of admin: Configuration.Admin?) -> [Diagnostic] {
        guard let files = admin?.certificate, let place = admin?.place else { return [] }
        do throws(WorkerError) { _ = try ServerCertificate.load(files, named: "admin.tls") } catch {
            return [Diagnostic(.error, at: place, error.description)]
        }
        return []
    }

    private static func load(_ keys: [Configuration.Key]) -> ([String: KeyRing], [Diagnostic]) {
        var rings: [String: KeyRing] = [:]
        var diagnostics: [Diagnostic] = []
        for key in keys {
            guard let path = key.path else {
                diagnostics += signerDiagnostics(of: key)
                continue
            }
            do throws(KeyRingError) {
                rings[key.name] = try KeyRingDirectory(path: path).load(name: key.name)
            } catch {
                diagnostics.append(diagnostic(for: error, of: key))
            }
        }
        return (rings, diagnostics)
    }

    /// Versions that were retired or revoked and are in use again: a warning, as a worker that stops for it would sign nothing.
    private static func revivedVersions(of key: Configuration.Key) -> [Diagnostic] {
        guard let path = key.path else { return [] }
        let directory = KeyRingDirectory(path: path), log = AuditLog(directory)
        if let exposure = log.exposure {
            return [Diagnostic(.error, at: key.place, "keys.\(key.name): \(log.path) \(exposure)")]
        }
        guard let listing = try? directory.readListing() else { return [] }
        return RemintCommand.$invocation.withValue(.init(config: key.place.file, ring: key.name)) {
            directory.revivedVersions(in: listing).map {
                Diagnostic(.warning, at: key.place, "keys.\(key.name): \($0.description)")
            }
        }
    }

    /// Ids that no new version may have: refused when a key is added, and only reported here, as the ring signs.
    private static func oddIDs(of key: Configuration.Key) -> [Diagnostic] {
        guard let path = key.path, let listing = try? KeyRingDirectory(path: path).readListing() else { return [] }
        return listing.oddIDs.map { id in
            Diagnostic(
                .warning, at: key.place,
                "keys.\(key.name): the id of the version \(PlainName.quote(id)) is no name for a file or a command line; rotate to a version with another id and retire this one (\(PlainName.rule))"
            )
        }
    }

    /// Returns warnings about two key pairs with one kid. They are refused when a key is added, and only reported here,
    /// because the ring signs.
    private static func repeatedKids(of key: Configuration.Key) -> [Diagnostic] {
        guard let path = key.path, let listing = try? KeyRingDirectory(path: path).readListing() else { return [] }
        return listing.repeatedKids.map { version, earlier in
            Diagnostic(
                .warning, at: key.place,
                "keys.\(key.name): the versions \(PlainName.quote(earlier.id)) and \(PlainName.quote(version.id)) have the same kid, so a verifier may take the wrong key; rotate to a version with a kid of its own and retire both"
            )
        }
    }

    /// Returns the problems of a ring behind a signer. Its keys are not here; whether they fit is known after the
    /// signer has published them.
    private static func signerDiagnostics(of key: Configuration.Key) -> [Diagnostic] {
        guard let socket = key.signer, socket.utf8.count > SignerSocket.longestPath else { return [] }
        return [
            Diagnostic(
                .error, at: key.place,
                "the signer's socket has a path of \(socket.utf8.count.of("byte")); at most \(SignerSocket.longestPath)"
            )
        ]
    }

    /// Returns the diagnostic of `error`: at its place inside the listing; for a file as a whole, at the key that names
    /// it.
    package static func diagnostic(for error: KeyRingError, of key: Configuration.Key) -> Diagnostic {
        guard let line = error.line, let column = error.column else {
            return Diagnostic(.error, at: key.place, "\(error.file) \(error.message)\(remedy(for: error, of: key))")
        }
        return Diagnostic(.error, at: FileLocation(file: error.file, line: line, column: column), error.message)
    }

    /// Returns the commands that make a missing ring; empty for any other error.
    private static func remedy(for error: KeyRingError, of key: Configuration.Key) -> String {
        guard let path = key.path, error.file == KeyRingDirectory(path: path).listing, !KeyFile.exists(error.file)
        else { return "" }
        return RemintCommand.$invocation.withValue(.init(config: key.place.file, ring: key.name)) {
            ". Create the ring: \(RemintCommand("keys generate")); or, where the key exists: \(RemintCommand("keys import"))"
        }
    }

    /// Returns the errors of an app whose tokens a signer with the ring's policy would refuse to sign.
    private static func check(_ app: Configuration.App, _ keys: [Configuration.Key]) -> [Diagnostic] {
        guard let key = keys.first(where: { $0.name == app.key }) else { return [] }
        let policy = key.policy
        var found: [Diagnostic] = []
        if key.signer != nil, app.adapter.recipe(for: Subject(user: "")).derivation != nil {
            found.append(
                Diagnostic(
                    .error, at: app.keyPlace,
                    "\(app.adapter.vendor) signs with a key of the day, which a signer does not derive; give keys.\(app.key) a path"
                ))
        }
        if key.signer != nil, !app.adapter.recipe(for: Subject(user: "")).claims.contains(where: { $0.name == "exp" }) {
            found.append(
                Diagnostic(
                    .error, at: app.keyPlace,
                    "tokens of \(app.adapter.vendor) have no exp, and a signer refuses such tokens; give keys.\(app.key) a path"
                ))
        }
        if let algorithms = policy.algorithms, !algorithms.contains(app.adapter.algorithm) {
            found.append(
                Diagnostic(
                    .error, at: app.keyPlace,
                    "keys.\(app.key).policy.algorithms lacks \(app.adapter.algorithm.rawValue), the one \(app.adapter.vendor) takes"
                ))
        }
        if Duration.seconds(app.lifetime) > policy.longestLife {
            found.append(
                Diagnostic(
                    .error, at: app.keyPlace,
                    "the tokens of \(app.name) live longer than keys.\(app.key).policy.longest_life allows; shorten apps.\(app.name).lifetime"
                ))
        }
        return found
    }
}

extension Configuration {
    /// Returns whether the Kafka clients of `other` would have the same properties.
    fileprivate func hasClients(of other: Configuration) -> Bool {
        delivery == other.delivery && kafka.bootstrapServers == other.kafka.bootstrapServers
            && kafka.group == other.kafka.group && kafka.oauth == other.kafka.oauth
            && kafka.properties.elementsEqual(other.kafka.properties) { $0.name == $1.name && $0.value == $1.value }
    }
}

// The ends of keys and certificates. They fail a check and keep no worker from starting: its other apps' users need tokens.

extension Preflight {
    /// Returns the apps that cannot sign at `now`, and the keys and certificates that end within 30 days.
    func ends(at now: UnixTime) -> [Diagnostic] {
        guard let configuration else { return [] }
        return keyEnds(of: configuration, at: now) + Self.certificateEnds(of: configuration, at: now)
    }

    private func keyEnds(of configuration: Configuration, at now: UnixTime) -> [Diagnostic] {
        var broken: Set<String> = []
        let errors = configuration.apps.compactMap { app -> Diagnostic? in
            guard let ring = rings[app.key] else { return nil }
            let signing = AppSigning(app, version: ring.active?.id, end: ring.active?.retireAfter)
            let problem = Self.printing(for: app.keyPlace.file) { signing.problem(at: now) }
            guard let problem else { return nil }
            broken.insert(app.key)
            return Diagnostic(.error, at: app.keyPlace, problem)
        }
        let reports = RingReader { configuration.ringPlaces }.read().filter { !broken.contains($0.name) }
        let warnings = reports.flatMap(\.ends).compactMap { end -> Diagnostic? in
            guard let key = configuration.keys.first(where: { $0.name == end.ring }),
                let warning = Self.printing(for: key.place.file, { end.warning(at: now) })
            else { return nil }
            return Diagnostic(.warning, at: key.place, warning)
        }
        return errors + warnings
    }

    /// Returns the result of `text`, whose commands name the configuration `file`.
    private static func printing(for file: String, _ text: () -> String?) -> String? {
        RemintCommand.$invocation.withValue(.init(config: file), operation: text)
    }

    private static func certificateEnds(of configuration: Configuration, at now: UnixTime) -> [Diagnostic] {
        var found: [Diagnostic] = []
        if let certificates = ClientCertificates(configuration), let end = certificates.end {
            let place = configuration.kafka.properties.first { $0.name == "ssl.certificate.location" }?.place
            if let place, let diagnostic = CertificateEnd("ssl.certificate.location", end).diagnostic(at: place, now) {
                found.append(diagnostic)
            }
        }
        if let admin = configuration.admin, let files = admin.certificate, let place = admin.place,
            let loaded = try? ServerCertificate.load(files, named: "admin.tls", at: now),
            let diagnostic = CertificateEnd("admin.tls.certificate", loaded.end).diagnostic(at: place, now)
        {
            found.append(diagnostic)
        }
        return found
    }
}

/// The files that look-ups name, looked at before a worker starts. Those of secrets were when they were read.
enum LookupFiles {
    /// Returns the errors in the look-up files of `apps`, each file and place once.
    static func diagnostics(for apps: [Configuration.App], source: ConfigurationSource) -> [Diagnostic] {
        var seen: Set<FileLocation> = []
        return apps.flatMap { $0.lookup?.files ?? [] }
            .filter { $0.content == .certificates && seen.insert($0.place).inserted }
            .compactMap { trouble($0, source) }
    }

    /// Returns the error of a file of certificates one of which cannot be used.
    private static func trouble(_ file: Configuration.Lookup.File, _ source: ConfigurationSource) -> Diagnostic? {
        switch source.file(file.path) {
        case .refused(let reason): return Diagnostic(.error, at: file.place, "\(file.path) \(reason)")
        case .contents(let text):
            do throws(JOSEError) { _ = try Certificates.count(inPEM: text) } catch {
                return Diagnostic(.error, at: file.place, "\(file.path) \(error.message)")
            }
            return nil
        }
    }
}

/// Settings that a worker can start with and that are hardly meant.
enum DoubtfulSettings {
    /// The properties of librdkafka that are secrets.
    private static let secrets: Set<String> = [
        "sasl.password", "sasl.oauthbearer.client.secret", "ssl.key.password", "ssl.key.pem", "ssl.keystore.password",
    ]

    /// Returns warnings about secrets in the configuration's own file, and about rings that no app uses.
    static func diagnostics(of configuration: Configuration) -> [Diagnostic] {
        let literal = configuration.kafka.properties.filter { $0.isLiteral && secrets.contains($0.name) }.map {
            Diagnostic(
                .warning, at: $0.place,
                "kafka.properties \($0.name) is a secret in the configuration's file; move it to a file of mode 600 and write \($0.name)_file: PATH"
            )
        }
        // A signer's configuration may have rings alone.
        guard !configuration.apps.isEmpty else { return literal }
        let unused = configuration.keys.filter { key in !configuration.apps.contains { $0.key == key.name } }.map {
            Diagnostic(
                .warning, at: $0.place, "keys.\($0.name) is the key of no app; name it in apps.*.key, or remove it")
        }
        return literal + unused
    }

    /// Returns warnings about shared secrets of the ring `key` that were hardly copied as the vendor has them.
    static func secrets(of key: Configuration.Key) -> [Diagnostic] {
        let stored = key.path.flatMap { try? KeyRingDirectory(path: $0).storedKeys() } ?? []
        return stored.filter(\.version.state.verifies).compactMap { version, stored in
            (stored.secret?.withBytes { doubt(about: $0) }).map { doubt in
                Diagnostic(
                    .warning, at: key.place,
                    "keys.\(key.name): the shared secret of the version \(PlainName.quote(version.id)) \(doubt); compare it with the vendor's, and import the secret alone where it differs"
                )
            }
        }
    }

    /// Returns the reason to doubt a secret, without a copy of it; nil for none.
    private static func doubt(about secret: UnsafeRawBufferPointer) -> String? {
        if secret.allSatisfy({ $0 == 0 }) { return "is of zero bytes alone" }
        if let first = secret.first, secret.count > 1, "\"'`".utf8.contains(first), secret.last == first {
            return "is in quotes, which are a part of it"
        }
        let name = secret.prefix { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
        let rest = secret.dropFirst(name.count)
        // Base64 ends in equals signs.
        let isNamed = name.count > 2 && rest.first == UInt8(ascii: "=") && rest.contains { $0 != UInt8(ascii: "=") }
        return isNamed ? "begins with NAME=, which is a part of it" : nil
    }
}

/// Keys that several versions hold, of one ring or of several: refused when a key is imported, and only reported here, as the rings
/// sign.
struct RepeatedKeys {
    private struct Stored {
        let ring: Configuration.Key
        let version: ListedVersion
        let key: VerificationKey

        var state: KeyVersion.State { version.state }
        func name(in other: Configuration.Key) -> String {
            "\(version.id) (\(state.rawValue))" + (ring.name == other.name ? "" : " of the ring \(ring.name)")
        }
    }

    /// Returns the notices about the rings `keys`. An error where one of the versions is revoked, and the compromised key signs or
    /// verifies under another's name. That fails a check, but no worker's start: it would leave all other keys' users without tokens.
    static func diagnostics(of keys: [Configuration.Key]) -> [Diagnostic] {
        let stored = keys.flatMap { ring -> [Stored] in
            let found = ring.path.flatMap { try? KeyRingDirectory(path: $0).storedKeys() } ?? []
            return found.map { Stored(ring: ring, version: $0.version, key: $0.key) }
        }
        return stored.indices.compactMap { index in
            let version = stored[index]
            let others = stored.indices.filter { $0 != index && stored[$0].key.hasSameMaterial(as: version.key) }
            if version.state.verifies, let revoked = others.first(where: { stored[$0].state == .revoked }) {
                return compromised(version, stored[revoked])
            }
            // Of two versions that are in use or were, the later one is named with the earlier one.
            return others.first { $0 < index && !isRevocation(stored[$0], version) }.map {
                repeated(version, stored[$0])
            }
        }
    }

    private static func isRevocation(_ one: Stored, _ other: Stored) -> Bool {
        one.state == .revoked && other.state.verifies || other.state == .revoked && one.state.verifies
    }

    private static func compromised(_ version: Stored, _ revoked: Stored) -> Diagnostic {
        let ring = version.ring
        let command = RemintCommand.$invocation.withValue(.init(config: ring.place.file)) {
            RemintCommand("rotate revoke", ring: ring.name, "--key-version", version.version.id).description
        }
        return Diagnostic(
            .error, at: ring.place,
            "keys.\(ring.name): the version \(version.name(in: ring)) holds the key of \(revoked.name(in: ring)), which is compromised; run: \(command)"
        )
    }

    private static func repeated(_ version: Stored, _ earlier: Stored) -> Diagnostic {
        let extra = version.state == .active ? earlier : version
        let remedy =
            version.ring.name == earlier.ring.name
            ? "put another key into the ring and retire \(extra.version.id)"
            : "use one ring for the apps of both, or rotate one of them to a key of its own"
        return Diagnostic(
            .warning, at: version.ring.place,
            "keys.\(version.ring.name): the versions \(earlier.name(in: version.ring)) and \(version.name(in: version.ring)) hold the same key; \(remedy)"
        )
    }
}
