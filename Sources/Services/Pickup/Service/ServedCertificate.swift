import AdapterKit
import NIOCore
import NIOSSL
import Serving
import Synchronization
import WorkerConfiguration

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

    /// The configuration of a server that serves this certificate.
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
