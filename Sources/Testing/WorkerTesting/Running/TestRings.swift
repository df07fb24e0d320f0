import AdapterKit
import JOSE
package import Keyring
import Preflight
package import WorkerConfiguration

/// The key rings that tests sign with: those on this machine, and for others keys that are made for the run and forgotten.
package struct TestRings: Sendable {
    package private(set) var rings: [String: KeyRing] = [:]
    /// The names of those that are made for this run, in the order of the configuration.
    package private(set) var made: [String] = []
    package private(set) var diagnostics: [Diagnostic] = []

    package static let versionID = "test-key"

    /// The rings of `configuration`.
    ///
    /// - Parameter ephemeral: whether no ring is read, not even one that is there.
    /// - Throws: the error that keeps a key from being made.
    package init(_ configuration: Configuration, ephemeral: Bool) throws {
        for key in configuration.keys {
            let apps = configuration.apps.filter { $0.key == key.name }
            // Behind a signer, keys are not for tests.
            let directory = ephemeral ? nil : key.path.map { KeyRingDirectory(path: $0) }
            if let directory, directory.revision != nil {
                load(directory, key, apps)
            } else if let app = apps.first {
                try make(key.name, for: app.adapter)
            }
        }
    }

    private mutating func load(
        _ directory: KeyRingDirectory, _ key: Configuration.Key, _ apps: [Configuration.App]
    ) {
        do throws(KeyRingError) {
            let ring = try directory.load(name: key.name)
            rings[key.name] = ring
            diagnostics += apps.flatMap { $0.misfits(of: ring) }.filter { $0.severity == .error }
        } catch { diagnostics.append(Preflight.diagnostic(for: error, of: key)) }
    }

    private mutating func make(_ name: String, for adapter: any Adapter) throws {
        let key = try KeyGeneration.key(
            adapter.algorithm, encoding: adapter.secretEncoding, rsaBits: 2048, id: Self.versionID)
        rings[name] = KeyRing(
            name: name, active: key, id: Self.versionID, secretEncoding: adapter.secretEncoding)
        made.append(name)
    }
}
