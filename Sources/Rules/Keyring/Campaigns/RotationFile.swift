import Glibc
package import JOSE

/// A ring's campaign on disk: `rotation.json` beside the listing.
package struct RotationFile: Sendable {
    /// The file.
    package let path: String
    private let disk: Disk

    /// The campaign of the ring in `directory`.
    package init(_ directory: KeyRingDirectory) {
        path = directory.campaign
        disk = directory.disk
    }

    /// The revision of the file's contents; nil if there is no file.
    package var revision: FileRevision? { FileRevision(of: path) }

    /// Reads the campaign; nil where none was ever begun.
    ///
    /// - Throws: `KeyRingError` for a file that is something else.
    package func load() throws(KeyRingError) -> Rotation? {
        guard KeyFile.exists(path) else { return nil }
        guard let rotation = Rotation(try KeyFile.readListing(path)) else {
            throw KeyRingError(path, "is no campaign's state; restore it, or move it away and start again")
        }
        return rotation
    }

    /// Writes the campaign, whole or not at all. A caller that changes it holds the ring's lock.
    ///
    /// - Throws: `KeyRingError`.
    package func save(_ rotation: Rotation) throws(KeyRingError) {
        try DurableWrite(path: path, mode: 0o600, on: disk).write(SecretBytes(copying: rotation.json))
    }
}
