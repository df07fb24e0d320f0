import Glibc
package import JOSE

/// A ring's campaign on disk: `rotation.json` beside the listing.
package struct RotationFile: Sendable {
    /// The file.
    package let path: String
    private let directory: KeyRingDirectory
    private let disk: Disk

    /// The campaign of the ring in `directory`.
    package init(_ directory: KeyRingDirectory) {
        path = directory.campaign
        self.directory = directory
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

    /// Returns the revision of the file with the progress of the campaign `id`; nil if there is no file.
    func progressRevision(of id: String) -> FileRevision? { FileRevision(of: directory.checkpoint(of: id)) }

    /// Reads the progress of the campaign `id`; nil where its re-issue has not begun or the file cannot be read.
    func progress(of id: String) -> CampaignProgress? {
        let path = directory.checkpoint(of: id)
        guard KeyFile.exists(path), let text = try? KeyFile.readListing(path) else { return nil }
        return CampaignProgress(text, of: id)
    }

    /// Writes the campaign, whole or not at all. A caller that changes it holds the ring's lock.
    ///
    /// - Throws: `KeyRingError`.
    package func save(_ rotation: Rotation) throws(KeyRingError) {
        try DurableWrite(path: path, mode: 0o600, on: disk).write(SecretBytes(copying: rotation.json))
    }
}
