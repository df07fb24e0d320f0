import JOSE

/// The key file of a retired version, by its private key.
package enum RetiredKeyFile {
    /// No private key: no file, the public key alone, or a shared secret.
    case clear
    /// A private key, which `publicPEM` replaces.
    case privateKey(publicPEM: String)
    /// A file that is not the ring's own. No command changes it, and it may hold the private key.
    case elsewhere(String)
    /// A file that may hold a private key and cannot be read, with the fix.
    case unreadable(KeyRingError)
}

extension KeyRingEntry {
    /// Returns the state of the version's key file. Other accounts may be able to read it: the key signs nothing any more.
    func retiredFile() throws(KeyRingError) -> RetiredKeyFile {
        let listed = try listed()
        guard listed.state == .retired, !listed.file.isEmpty, listed.algorithm.keyType != .secret else { return .clear }
        let path = directory.file(listed.file)
        guard KeyFile.exists(path) else { return .clear }
        do throws(KeyRingError) {
            let key = try loadKey(listed, from: .instructions).verificationKey
            guard directory.isOwn(listed.file) else { return .elsewhere(path) }
            guard let pem = try? key.publicKeyPEM() else { throw KeyRingError(path, "its key has no PEM form") }
            return .privateKey(publicPEM: pem)
        } catch {
            if storedKey() != nil { return .clear }
            guard directory.isOwn(listed.file) else { return .elsewhere(path) }
            return .unreadable(
                KeyRingError(
                    path,
                    "may still hold the private key of the retired version \"\(listed.id)\", which cannot be read: \(error.message). Fix that, or delete the file"
                ))
        }
    }
}
