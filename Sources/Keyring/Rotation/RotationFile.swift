import Glibc
import JOSE

/// A ring's campaign on disk: `rotation.json` beside the listing.
public struct RotationFile: Sendable {
    /// The file.
    public let path: String

    /// The campaign of the ring in `directory`.
    public init(_ directory: KeyRingDirectory) { path = "\(directory.path)/rotation.json" }

    /// The campaign; nil where none was ever begun.
    ///
    /// - Throws: `KeyRingError` for a file that is something else.
    public func load() throws(KeyRingError) -> Rotation? {
        guard KeyFile.exists(path) else { return nil }
        guard let rotation = Rotation(try KeyFile.readListing(path)) else {
            throw KeyRingError(path, "is no campaign's state; mend it, or move it away to begin anew")
        }
        return rotation
    }

    /// Writes the campaign, whole or not at all. Whoever changes it holds the ring's lock.
    ///
    /// - Throws: `KeyRingError`.
    public func save(_ rotation: Rotation) throws(KeyRingError) {
        try KeyFile.write(SecretBytes(copying: rotation.json), to: path)
    }
}
