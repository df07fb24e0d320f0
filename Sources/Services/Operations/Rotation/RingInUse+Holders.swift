package import JOSE
package import Keyring
import WorkerConfiguration

/// A version that holds a key which another version holds too.
package struct KeyHolder: Sendable, CustomStringConvertible {
    /// The ring's name in the configuration.
    package let ring: String
    /// The version.
    package let version: ListedVersion

    /// Whether the version is revoked, so that every holder of its key holds a compromised one.
    package var isRevoked: Bool { version.state == .revoked }
    /// The command that revokes the version.
    package var revocation: String {
        RemintCommand("rotate revoke", ring: ring, "--key-version", version.id).description
    }
    package var description: String { "\(version.id) (\(version.state.rawValue)) of the ring \(ring)" }
}

/// The versions of all rings of the configuration that hold one key. Secrets are compared in a time that depends on their lengths
/// alone; a ring that cannot be read, or is behind a signer, has none.
extension RingInUse {
    /// Returns the versions that hold `key`.
    package func holders(of key: VerificationKey) -> [KeyHolder] {
        configuration.keys.flatMap { other -> [KeyHolder] in
            let folder = other.name == ring.name ? directory : other.path.map { KeyRingDirectory(path: $0) }
            guard let stored = try? folder?.storedKeys() else { return [] }
            return stored.filter { $0.key.hasSameMaterial(as: key) }.map {
                KeyHolder(ring: other.name, version: $0.version)
            }
        }
    }

    /// Returns the other versions that hold the key of `version`; nil where its file is gone or holds no key.
    package func holders(of version: String) -> [KeyHolder]? {
        let stored = try? directory.storedKeys().first { $0.version.id == version }
        return stored.map { stored in
            holders(of: stored.key).filter { $0.ring != ring.name || $0.version.id != version }
        }
    }

    /// Refuses a key that is to come into the ring and that a revoked version holds.
    ///
    /// - Throws: `CompromisedKey`.
    package func requireUncompromised(_ key: VerificationKey) throws(CompromisedKey) {
        guard let holder = holders(of: key).first(where: \.isRevoked) else { return }
        throw CompromisedKey("this key is compromised: it is that of \(holder); generate or import another one")
    }

    /// Refuses a version that is to sign and holds the key of a revoked version, or of `leaked`, which is about to be revoked.
    ///
    /// - Throws: `CompromisedKey` with the command that goes on.
    func requireUncompromised(
        _ version: String, besides leaked: String? = nil, in listing: KeyRingListing
    ) throws(CompromisedKey) {
        let holder = holders(of: version)?.first {
            $0.isRevoked || $0.ring == ring.name && $0.version.id == leaked
        }
        guard let holder else { return }
        let remedy =
            leaked != nil && listing.active?.id == version
            ? "first: \(RemintCommand("rotate revoke", "--key-version", version, "--promote", "ID")), with the ID of a version of another key"
            : "name a version of another key"
        throw CompromisedKey(
            "\(version) holds the compromised key of \(holder), and cannot sign; \(remedy); to make one: \(RemintCommand("keys generate", ring: ring.name))"
        )
    }

    /// Refuses to call `version` revoked while other versions of its key are in use.
    ///
    /// - Throws: `CompromisedKey` with the commands that revoke them.
    package func requireRevokedEverywhere(_ version: String) throws(CompromisedKey) {
        let others = (holders(of: version) ?? []).filter(\.version.state.verifies)
        guard !others.isEmpty else { return }
        let list = others.map { "\($0): \($0.revocation)" }.joined(separator: "; ")
        throw CompromisedKey("the compromised key of \(version) is in use under other names; revoke \(list)")
    }

    /// Refuses to call the ring's revoked versions revoked while other versions of their keys are in use.
    ///
    /// - Throws: `CompromisedKey` with the commands that revoke them, or `KeyRingError`.
    package func requireRevokedEverywhere() throws {
        for version in try directory.readListing().versions where version.state == .revoked {
            try requireRevokedEverywhere(version.id)
        }
    }
}

/// A key that is compromised, under whatever name.
package struct CompromisedKey: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
