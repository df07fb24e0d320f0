import AdapterKit
import Glibc
import Keyring

/// Removal of the lists of users that campaigns leave.
extension Campaign {
    private static let (start, end) = ("rotation-", ".subjects")

    /// Removes the lists of users of every campaign but the open one: they hold the ids of all users, and nothing reads them any
    /// more. A job that is at work on one removes it when it ends.
    func removeOldLists() {
        guard let lock = try? ReissueLock("\(ring.directory.path)/reissue.lock", at: ring.now()) else { return }
        removeOldListsLocked()
        withExtendedLifetime(lock) {}
    }

    /// Removes the lists, for a caller that holds `reissue.lock`.
    func removeOldListsLocked() {
        let folder = ring.directory.path
        guard let rotation = try? load(), let listing = try? ring.directory.readListing() else { return }
        // A campaign from before campaigns had ids may still take over a list of another name.
        guard !rotation.isOfOldForm || rotation.phase.isOver else { return }
        let kept = rotation.phase.isOver ? nil : files(of: rotation).subjects
        for name in ScratchFile.names(in: folder) where name.hasPrefix(Self.start) && name.hasSuffix(Self.end) {
            let path = "\(folder)/\(name)"
            // No key is removed, whatever its file is called.
            guard path != kept, !ring.directory.isNamed(name, by: listing.versions) else { continue }
            _ = try? ring.directory.disk.run(.remove, on: path) { unlink(path) }
        }
    }
}
