import AdapterKit
import JOSE
import Keyring
import Operations
import WorkerConfiguration

extension RingInUse {
    /// Returns a new key of `algorithm` for the ring, after a warning where its vendor makes the keys itself.
    func newKey(_ algorithm: Algorithm, _ version: NewVersionOptions, rsaBits: Int) throws -> SigningKey {
        if handover?.origin == .vendor {
            Terminal.error(
                "remint: warning: \(apps[0].adapter.vendor) makes its keys itself; see: \(RemintCommand("keys import", "--help"))"
            )
        }
        return try KeyGeneration.key(
            algorithm, encoding: encoding(asked: version.encoding), rsaBits: rsaBits, id: version.id)
    }
}
