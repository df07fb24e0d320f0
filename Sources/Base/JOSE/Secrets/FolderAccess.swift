import Glibc

/// The owner and mode of a folder: an account that can write it can put another file in the place of each file in it.
package struct FolderAccess: Sendable, Equatable {
    /// The permissions, without the kind of file.
    let mode: UInt32
    /// The user whose folder it is.
    let owner: UInt32
    /// The user that this process runs as. Root reads the files of the account that it helps.
    let reader: UInt32
    /// Whether the file system is mounted read-only, as a Kubernetes secret is, whose mode is 1777.
    let isReadOnly: Bool

    /// Returns the reason not to trust the folder at `path`, with its remedy; nil where there is none.
    ///
    /// - Parameter entry: The owner of the entry that is used, where no other entry is. In a folder with the sticky bit, as `/tmp`
    ///   is one, only this owner can replace the entry.
    package func exposure(of path: String, entry: UInt32? = nil) -> String? {
        guard !isReadOnly else { return nil }
        if isForeign(owner) {
            return
                "belongs to user \(owner), who could replace its files, and this runs as user \(reader); use a folder of user \(reader), or run: chown \(reader) \(path)"
        }
        guard mode & 0o022 != 0 else { return nil }
        if let entry, mode & 0o1000 != 0, !isForeign(entry) { return nil }
        return
            "has mode \(String(mode, radix: 8)), so others than its owner can replace its files; run: chmod go-w \(path)"
    }

    private func isForeign(_ user: UInt32) -> Bool { user != 0 && user != reader && reader != 0 }

    /// Returns the reason not to trust the folders that lead to `path`, links included, with its remedy; nil where there is
    /// none, and for a path that leads nowhere, which the opening reports.
    package static func exposure(onTheWayTo path: String) -> String? {
        var rest = names(in: path), folder = "/", links = 0
        if !path.hasPrefix("/") {
            guard let working = unsafe getcwd(nil, 0) else { return nil }
            defer { unsafe free(working) }
            rest += names(in: unsafe String(cString: working))
        }
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                folder = parent(of: folder)
                continue
            }
            let entry = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            var status = stat()
            guard unsafe lstat(entry, &status) == 0 else { return nil }
            if let exposure = FolderAccess(folder)?.exposure(of: folder, entry: status.st_uid) {
                return "is in \(folder), which \(exposure)"
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: folder = entry
            case S_IFLNK:
                links += 1
                // The system follows no more either.
                guard links <= 40, let target = target(of: entry) else { return nil }
                if target.hasPrefix("/") { folder = "/" }
                rest += names(in: target)
            default: return nil
            }
        }
        return nil
    }

    /// Returns the names in `path`, the last one first.
    private static func names(in path: String) -> [String] { path.split(separator: "/").reversed().map(String.init) }

    private static func parent(of folder: String) -> String {
        let names = folder.split(separator: "/").dropLast()
        return "/" + names.joined(separator: "/")
    }

    private static func target(of link: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &target, target.count)
        return count > 0 ? String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}

extension FolderAccess {
    /// The access of this process to the folder at `path`; nil where there is none.
    package init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        var system = statvfs()
        let isReadOnly = unsafe statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
        self.init(mode: status.st_mode & 0o7777, owner: status.st_uid, reader: geteuid(), isReadOnly: isReadOnly)
    }
}
