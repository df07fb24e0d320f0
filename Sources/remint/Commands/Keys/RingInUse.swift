import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import WorkerConfiguration

/// A key ring with the apps that use it.
struct RingInUse {
    let configuration: Configuration
    let ring: Configuration.Key
    let directory: KeyRingDirectory
    var apps: [Configuration.App] { configuration.apps.filter { $0.key == ring.name } }
    var audit: AuditLog { AuditLog(directory) }
    /// What the vendor wants done; nil for a ring that no app uses.
    var handover: KeyHandover? { apps.first?.adapter.keyHandover }

    /// How long a version must have been prepared, in seconds: as long as the most careful app wants.
    var publishWindow: Int64 { apps.map(\.publishWindow).max() ?? 0 }

    /// The algorithm of the ring's keys.
    ///
    /// - Parameter asked: what the operator asks for; nil for what the apps' vendors take.
    /// - Throws: `ValidationError` where a vendor takes another one.
    func algorithm(asked: Algorithm?) throws -> Algorithm {
        for app in apps {
            let adapter = app.adapter
            if let asked, asked != adapter.algorithm {
                throw ValidationError(
                    "\(asked.rawValue) is not for the app \(app.name): \(adapter.vendor) takes \(adapter.algorithm.rawValue) alone"
                )
            }
        }
        guard let algorithm = asked ?? apps.first?.adapter.algorithm else {
            throw ValidationError("no app uses the key ring \(ring.name); name its --algorithm")
        }
        return algorithm
    }

    /// How the ring's shared secrets are written.
    func encoding(asked: SecretEncoding?) -> SecretEncoding? {
        asked ?? apps.compactMap(\.adapter.secretEncoding).first
    }
}

extension KeyRingListing {
    /// An id for a version of this month that is not taken: `2026-11`, `2026-11.2`, …
    func freshID(at time: UnixTime) -> String {
        let month = String(time.description.prefix(7))
        var id = month
        var number = 2
        while versions.contains(where: { $0.id == id }) {
            id = "\(month).\(number)"
            number += 1
        }
        return id
    }
}
