import Keyring
import Synchronization

/// The key rings of the start, until they are taken, so that the worker's owner keeps no key that is gone since.
final class FirstRings: Sendable {
    private let rings: Mutex<[KeyRing]>

    init(_ rings: [KeyRing]) { self.rings = Mutex(rings) }

    /// Returns all rings, once.
    func take() -> [KeyRing] {
        rings.withLock { rings in
            defer { rings = [] }
            return rings
        }
    }
}
