import AdapterKit
import NIOCore
import NIOSSL
import Synchronization
import WorkerConfiguration

/// The certificate and key that devices see. Files that are replaced count from the next connection on, without a restart.
final class ServedCertificate: Sendable {
    private let pickup: Configuration.Pickup
    private let current: Mutex<TLSConfiguration>

    /// The certificate of `pickup`; nil where the gateway speaks plain text.
    ///
    /// - Throws: `PickupError` for a key that others can read, and where certificate and key are none.
    init?(_ pickup: Configuration.Pickup) throws(PickupError) {
        guard let first = try PickupFiles.tls(pickup) else { return nil }
        self.pickup = pickup
        current = Mutex(first)
    }

    /// When the certificate expires.
    var end: UnixTime? { PickupFiles.certificateEnd(in: pickup.certificate?.chain) }

    /// What a server is made with.
    var configuration: TLSConfiguration {
        var configuration = current.withLock { $0 }
        configuration.sslContextCallback = { [self] _, promise in
            let latest = current.withLock { $0 }
            var change = NIOSSLContextConfigurationOverride()
            change.certificateChain = latest.certificateChain
            change.privateKey = latest.privateKey
            promise.succeed(change)
        }
        return configuration
    }

    /// Reads the files again.
    ///
    /// - Throws: `PickupError` where they cannot be used; those of before go on.
    func reload() throws(PickupError) {
        guard let new = try PickupFiles.tls(pickup) else { return }
        current.withLock { $0 = new }
    }
}
