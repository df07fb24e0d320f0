import AdapterKit
import JOSE
import Keyring
import WorkerConfiguration

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
