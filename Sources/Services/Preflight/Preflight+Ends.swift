import JOSE
import Keyring
import Serving
import Wiring
import WorkerConfiguration

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
