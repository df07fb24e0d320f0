import Keyring

/// A ring in a folder, and the apps that its keys must fit.
public struct WatchedRing: Sendable {
    /// The ring's name.
    public var name: String
    /// The ring's folder.
    public var path: String
    /// The uses of the ring, one for each of its apps.
    public var uses: [RingUse]

    /// Makes the ring `name` of the folder `path`.
    public init(name: String, path: String, uses: [RingUse]) {
        self.name = name
        self.path = path
        self.uses = uses
    }

    /// The ring's folder, for reading.
    var directory: KeyRingDirectory { KeyRingDirectory(path: path) }
}
