import Glibc

/// The account that a folder belongs to.
package enum FolderOwner {
    /// Gives root's new file to the owner and group of its folder: an operator who is root must not lock out the
    /// account that the worker runs under.
    ///
    /// A file with a second name stays unchanged: an account that may write to the folder could have linked any file of
    /// root's there.
    ///
    /// - Returns: whether the file has the right owner.
    package static func adopt(_ descriptor: Int32, in folder: String) -> Bool {
        guard geteuid() == 0 else { return true }
        var owner = stat()
        var file = stat()
        guard stat(folder, &owner) == 0, fstat(descriptor, &file) == 0 else { return false }
        guard file.st_uid != owner.st_uid || file.st_gid != owner.st_gid else { return true }
        guard file.st_uid == 0, file.st_nlink == 1, file.st_mode & S_IFMT == S_IFREG else { return true }
        return fchown(descriptor, owner.st_uid, owner.st_gid) == 0
    }

    /// Returns the reason why the account of `folder` cannot read the secret at `path`, with its remedy, where root
    /// asks, who can read it. nil where there is none, and for a folder of root's, which does not show the reading
    /// account.
    static func stranger(_ path: String, in folder: String) -> String? {
        var owner = stat()
        var file = stat()
        guard geteuid() == 0, stat(folder, &owner) == 0, stat(path, &file) == 0, owner.st_uid != 0 else { return nil }
        guard file.st_uid != owner.st_uid, file.st_uid != 0 || file.st_mode & 0o040 == 0 else { return nil }
        return
            "belongs to user \(file.st_uid), and the ring's folder to user \(owner.st_uid), who cannot read it; run: chown \(owner.st_uid) \(path)"
    }

    /// Gives root's new folder to the owner and group of the folder it is in.
    ///
    /// - Returns: whether the folder has the right owner.
    static func adopt(folder: Int32, in parent: String) -> Bool {
        guard geteuid() == 0 else { return true }
        var owner = stat()
        return stat(parent, &owner) == 0 && fchown(folder, owner.st_uid, owner.st_gid) == 0
    }
}
