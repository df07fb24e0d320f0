import Glibc

/// The owner and mode of a ring's folder: an account that can write it can replace every key in it.
struct FolderAccess: Sendable, Equatable {
    /// The permissions, without the kind of file.
    let mode: UInt32
    /// The user whose folder it is.
    let owner: UInt32
    /// The user that this process runs as. Root reads the files of the account that it helps.
    let reader: UInt32
    /// Whether the file system is mounted read-only, as a Kubernetes secret is, whose mode is 1777.
    let isReadOnly: Bool

    /// Returns the reason not to trust the folder at `path`, with its remedy; nil where there is none.
    func exposure(of path: String) -> String? {
        guard !isReadOnly else { return nil }
        if owner != 0, owner != reader, reader != 0 {
            return
                "belongs to user \(owner), who could replace its keys, and this runs as user \(reader); run: chown \(reader) \(path)"
        }
        guard mode & 0o022 != 0 else { return nil }
        return
            "has mode \(String(mode, radix: 8)), so others than its owner can replace its keys; run: chmod go-w \(path)"
    }
}

extension FolderAccess {
    /// The access of this process to the folder at `path`; nil where there is none.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        var system = statvfs()
        let isReadOnly = statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
        self.init(mode: status.st_mode & 0o7777, owner: status.st_uid, reader: geteuid(), isReadOnly: isReadOnly)
    }
}
