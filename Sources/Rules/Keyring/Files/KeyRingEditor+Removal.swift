import Glibc
import JOSE

/// The deletion of keys that are of no further use.
extension KeyRingEditor {
    /// Replaces the private key of the retired version `id` by its public key, which still recognizes the version's tokens.
    /// The file keeps its name. A shared secret has no public key: it stays until the version is removed. So does a file that
    /// is not the ring's own.
    ///
    /// - Throws: `KeyRingError`; the file is unchanged then. Also where the file may hold a private key that cannot be read.
    package func deletePrivateKey(of id: String) throws(KeyRingError) {
        switch try directory.retiredFile(of: id) {
        case .clear, .elsewhere: return
        case .unreadable(let error): throw error
        case .privateKey(let publicPEM):
            try DurableWrite(path: directory.file(try listing.version(id).file), mode: 0o600, .replacing, disk)
                .write(SecretBytes(copying: publicPEM.utf8))
        }
    }
}

extension KeyRingDirectory {
    /// Returns the paths of the files of `version`, which `listing` has: those that belong to it alone, and others, which
    /// stay when it is removed.
    func files(of version: ListedVersion, in listing: KeyRingListing) -> (own: [String], others: [String]) {
        let rest = listing.versions.filter { $0.id != version.id }
        let names = [version.file, version.passphraseFile ?? ""].filter { name in
            var status = stat()
            return !name.isEmpty && lstat(file(name), &status) == 0
        }
        let own = names.filter { isOwn($0) && !isNamed($0, by: rest) }
        return (own.map(file), names.filter { !own.contains($0) }.map(file))
    }

    /// Returns whether one of `versions` names the file `name`, under any path.
    package func isNamed(_ name: String, by versions: [ListedVersion]) -> Bool {
        let identity = FileIdentity(at: file(name))
        return versions.flatMap { [$0.file, $0.passphraseFile ?? ""] }.contains { other in
            !other.isEmpty
                && (file(other) == file(name) || identity.map { FileIdentity(at: file(other)) == $0 } ?? false)
        }
    }

    /// Returns whether `name` is a file in the ring's folder itself, and neither a link nor one of the ring's other files.
    func isOwn(_ name: String) -> Bool {
        guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("."), !Self.isRecord(name) else { return false }
        var status = stat()
        return lstat(file(name), &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
    }

    /// Returns whether `name` is that of the listing, the audit log, a lock, or a file of a campaign.
    private static func isRecord(_ name: String) -> Bool {
        ["keyring.json", "audit.log", "keyring.lock", "reissue.lock", "rotation.json"].contains(name)
            || name.hasPrefix("rotation-") && (name.hasSuffix(".json") || name.hasSuffix(".subjects"))
    }
}
