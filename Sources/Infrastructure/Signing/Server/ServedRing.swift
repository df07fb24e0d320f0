public import Keyring

/// A ring that a signer serves.
public struct ServedRing: Sendable {
    /// The ring, as it was loaded.
    public var ring: KeyRing
    /// The folder that the signer watches for changes of the ring.
    public var folder: WatchedRing
    /// The limits on the signatures with the ring.
    public var policy: SigningPolicy

    /// Makes a served ring.
    public init(_ ring: KeyRing, in folder: WatchedRing, policy: SigningPolicy) {
        self.ring = ring
        self.folder = folder
        self.policy = policy
    }

    /// The ring's name.
    var name: String { ring.name }
}
