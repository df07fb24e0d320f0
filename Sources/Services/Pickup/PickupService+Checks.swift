public import JOSE
import Serving
public import WorkerConfiguration

// MARK: Checks before a gateway starts

extension PickupService {
    /// Returns the problems of the gateway's files; empty where the configuration has no gateway.
    public static func diagnostics(for configuration: Configuration) -> [Diagnostic] {
        let diagnostics = PickupFiles.diagnostics(of: configuration) { session throws(PickupError) in
            try KeySourceFile.requireKey(in: session)
        }
        guard let pickup = configuration.pickup, let place = pickup.place,
            let problem = ConnectionLimit(pickup, .raised()).problem
        else { return diagnostics }
        return diagnostics + [Diagnostic(.error, at: place, problem)]
    }

    /// Returns notices about valid settings with consequences that an operator should know.
    public static func notices(for configuration: Configuration, at now: UnixTime) -> [Diagnostic] {
        guard let pickup = configuration.pickup, let place = pickup.place else { return [] }
        var notices: [Diagnostic] = []
        if let certificate = try? PickupFiles.tls(pickup),
            let diagnostic = CertificateEnd("pickup.tls.certificate", certificate.end).diagnostic(at: place, now)
        {
            notices.append(diagnostic)
        }
        if pickup.proof == .dpop, pickup.nonceSecret == nil {
            notices.append(
                Diagnostic(
                    .notice, at: place,
                    """
                    a proof of possession counts once on each instance: where there are several, whoever reads a request may repeat \
                    it on another for a minute and a half; write proof_nonce_secret: FILE, the same for all instances
                    """))
        }
        guard pickup.certificate == nil, pickup.trustedProxies.isEmpty else { return notices }
        return notices + [
            Diagnostic(
                .warning, at: place,
                """
                pickup speaks plain text and names no proxy: devices behind a proxy share the limits of its address; write \
                trusted_proxies: [the proxy's address], or tls where there is none
                """)
        ]
    }

    /// Fetches the keys of a session's section once.
    ///
    /// - Returns: the keys, in a line.
    /// - Throws: `PickupError` where no key verifies the session's tokens.
    public static func sessionKeys(
        of section: String, in configuration: Configuration, within limit: Duration
    ) async throws(PickupError) -> String {
        guard let session = configuration.pickup?.sessions.first(where: { $0.name == section }) else {
            throw PickupError("the configuration has no section pickup.\(section)")
        }
        return try await KeySourceFile.look(at: session, within: limit)
    }

    /// Returns the sessions that open each app, a line for each app; empty where the configuration has no gateway.
    public static func openedApps(of configuration: Configuration) -> [String] {
        configuration.pickup.map { DeviceApps(configuration, $0).lines } ?? []
    }
}
