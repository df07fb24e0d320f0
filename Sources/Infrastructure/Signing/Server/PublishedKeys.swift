import JOSE
import Keyring
import NIOCore
import Pipeline
import Synchronization

/// The rings as a signer publishes them, and the names by which it knows its keys.
final class PublishedKeys: Sendable {
    /// A version as a request names it.
    private struct Name: Hashable {
        let ring: String
        let version: String
        let algorithm: String
    }

    private struct State {
        var rings: [String: PublishedRing] = [:]
        /// The active version of each ring and the one before, which `LocalSigner` signs with as well.
        var references: [String: [SigningKeyReference]] = [:]
        var names: [Name: SigningKeyReference] = [:]
    }

    private let state = Mutex(State())

    /// The published form of `rings`.
    init(_ rings: [KeyRing]) {
        for ring in rings { replace(ring) }
    }

    /// Every ring, by name.
    var all: [PublishedRing] { state.withLock { $0.rings.values.sorted { $0.name < $1.name } } }

    /// Publishes `ring` from now on.
    func replace(_ ring: KeyRing) {
        let published = PublishedRing(ring)
        let active = LocalSigner.activeKey(of: ring)?.reference
        state.withLock { state in
            state.rings[ring.name] = published
            let before = state.references[ring.name]?.first
            state.references[ring.name] = [active, before == active ? nil : before].compactMap { $0 }
            // The newer one last, so that it has the name where both share one.
            let references = state.references.values.flatMap { $0.reversed() }
            state.names = Dictionary(references.map { (Self.name($0), $0) }) { _, newer in newer }
        }
    }

    /// Returns the keys of `items`; nil for a key that does not sign.
    func references(of items: some Sequence<SignerFrame.Item>) -> [SigningKeyReference?] {
        let names = state.withLock { $0.names }
        return items.map { names[Name(ring: $0.ring, version: $0.version, algorithm: $0.algorithm)] }
    }

    private static func name(_ key: SigningKeyReference) -> Name {
        Name(ring: key.ring, version: key.version, algorithm: key.algorithm.rawValue)
    }
}

extension PublishedRing {
    /// The published form of `ring`: the versions that count and those whose tokens are recognized, without their
    /// private halves.
    init(_ ring: KeyRing) {
        name = ring.name
        versions = ring.versions.compactMap { version in
            guard let state = Version.State(version.state), let key = version.verificationKey ?? version.retiredKey
            else { return nil }
            return Version(
                id: version.id, state: state, algorithm: version.algorithm.rawValue,
                keyID: key.keyID, retireAfter: version.retireAfter?.microseconds,
                publicKeyPEM: (try? key.publicKeyPEM()) ?? nil)
        }
    }
}

extension PublishedRing.Version.State {
    /// The published state of a version that is `state`; nil where the signer does not publish such a version.
    init?(_ state: KeyVersion.State) {
        switch state {
        case .active: self = .active
        case .passive: self = .passive
        case .prepared: self = .prepared
        case .retired: self = .retired
        // Its key may be anybody's.
        case .revoked: return nil
        }
    }
}
