package import AdapterKit
package import JOSE
package import Keyring
package import WorkerConfiguration

/// A key ring with the apps that use it.
package struct RingInUse {
    /// The configuration that names the ring.
    package let configuration: Configuration
    /// The ring.
    package let ring: Configuration.Key
    /// The ring's folder.
    package let directory: KeyRingDirectory
    /// The clock.
    package let now: @Sendable () -> UnixTime

    /// `ring` of `configuration`, in `directory`.
    package init(
        configuration: Configuration, ring: Configuration.Key, directory: KeyRingDirectory,
        now: @escaping @Sendable () -> UnixTime
    ) {
        self.now = now
        self.configuration = configuration
        self.ring = ring
        self.directory = directory
    }

    /// The apps that use the ring.
    package var apps: [Configuration.App] { configuration.apps.filter { $0.key == ring.name } }
    /// Takes the lock of the ring for a change.
    ///
    /// - Throws: `KeyRingError`, also where another operator holds it.
    package func editor() throws(KeyRingError) -> KeyRingEditor { try KeyRingEditor(directory, now: now) }

    /// The reasons, with their remedies, that workers cannot load all keys of the ring.
    package var damagedKeys: [KeyRingError] {
        let versions = (try? directory.readListing())?.versions.filter(\.state.verifies) ?? []
        return directory.damagedKeys(of: Set(versions.map(\.id)))
    }

    /// The log of the ring's changes.
    package var audit: AuditLog { AuditLog(directory) }
    /// The way in which the vendor gets the ring's keys; nil for a ring that no app uses.
    package var handover: KeyHandover? { apps.first?.adapter.keyHandover }

    /// The shortest time for which a version must have been prepared, in seconds: the longest `publish_window` of the
    /// ring's apps.
    package var publishWindow: Int64 { apps.map(\.publishWindow).max() ?? 0 }

    /// Returns the algorithm of the ring's keys.
    ///
    /// - Parameter asked: the operator's choice; nil for the algorithm that the apps' vendors accept.
    /// - Throws: `WrongAlgorithm` where a vendor accepts another one.
    package func algorithm(asked: Algorithm?) throws -> Algorithm {
        for app in apps {
            let adapter = app.adapter
            if let asked, asked != adapter.algorithm {
                throw WrongAlgorithm(
                    "\(asked.rawValue) is not for the app \(app.name): \(adapter.vendor) takes \(adapter.algorithm.rawValue) alone"
                )
            }
        }
        guard let algorithm = asked ?? apps.first?.adapter.algorithm else {
            throw WrongAlgorithm("no app uses the key ring \(ring.name); name its --algorithm")
        }
        return algorithm
    }

    /// Returns the encoding of the ring's shared secrets.
    package func encoding(asked: SecretEncoding?) -> SecretEncoding? {
        asked ?? apps.compactMap(\.adapter.secretEncoding).first
    }
}

extension KeyRingListing {
    /// Returns an id for a version of this month that no version and no file of the folder has: `2026-11`, `2026-11.2`,
    /// …
    package func freshID(at time: UnixTime) -> String {
        let month = String(time.description.prefix(7))
        var id = month
        var number = 2
        while isTaken(id) {
            id = "\(month).\(number)"
            number += 1
        }
        return id
    }
}

/// An algorithm that a ring's apps do not accept, or none where no app names one.
package struct WrongAlgorithm: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
