import Glibc
import JOSE

/// The deletion of keys that are of no further use.
extension KeyRingEditor {
    /// Whether the file of the retired version `id` still holds a private key that `deletePrivateKey` deletes.
    package func holdsPrivateKey(of id: String) -> Bool { publicPEM(of: id) != nil }

    /// Replaces the private key of the retired version `id` by its public key, which still recognizes the version's tokens.
    /// The file keeps its name. A shared secret has no public key: it stays until the version is removed.
    ///
    /// - Throws: `KeyRingError`; the file is unchanged then.
    package func deletePrivateKey(of id: String) throws(KeyRingError) {
        guard let pem = publicPEM(of: id), let version = try? listing.version(id) else { return }
        try DurableWrite(path: directory.file(version.file), mode: 0o600, .replacing, disk)
            .write(SecretBytes(copying: pem.utf8))
    }

    private func publicPEM(of id: String) -> String? {
        guard let version = try? listing.version(id), version.state == .retired, directory.isOwn(version.file) else {
            return nil
        }
        return directory.publicPEM(of: id)
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
        let own = names.filter { name in
            isOwn(name) && !rest.contains { $0.file == name || $0.passphraseFile == name }
        }
        return (own.map(file), names.filter { !own.contains($0) }.map(file))
    }

    /// Returns whether `name` is a file in the ring's folder itself, and neither a link nor one of the ring's other files.
    func isOwn(_ name: String) -> Bool {
        guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("."), name != "keyring.json", name != "audit.log"
        else {
            return false
        }
        var status = stat()
        return lstat(file(name), &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
    }
}
