import Keyring
import Synchronization

/// The key rings of the start, until they are taken: whoever holds the worker holds no key that is gone since.
final class FirstRings: Sendable {
    private let rings: Mutex<[KeyRing]>

    init(_ rings: [KeyRing]) { self.rings = Mutex(rings) }

    /// All of them, once.
    func take() -> [KeyRing] {
        rings.withLock { rings in
            defer { rings = [] }
            return rings
        }
    }
}
