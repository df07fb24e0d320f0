import Glibc

/// The owner and mode of a file and the account that reads it: whether the file can be trusted, and the commands that fix it.
/// A value, so that a table of cases tests it.
struct FileAccess: Sendable, Equatable {
    /// The permissions, without the kind of file.
    var mode: UInt32
    /// The user whose file it is.
    var owner: UInt32
    /// The group whose file it is.
    var group: UInt32
    /// The user that this process runs as. Root reads the files of the account that it helps.
    let reader: UInt32
    /// The groups of this process, its own first.
    let readerGroups: [UInt32]

    /// Whether the reader may open the file.
    var isReadable: Bool {
        if reader == 0 { return true }
        if owner == reader { return mode & 0o400 != 0 }
        return mode & (readerGroups.contains(group) ? 0o040 : 0o004) != 0
    }

    private var isForeign: Bool { owner != 0 && owner != reader && reader != 0 }

    private func isOpen(_ content: GuardedFile.Content) -> Bool {
        switch content {
        case .secret: mode & (owner == 0 ? 0o027 : 0o077) != 0
        case .instructions: mode & 0o022 != 0
        }
    }

    /// Returns the reason not to trust the file at `path`, with its remedy; nil where there is none.
    func exposure(of path: String, _ content: GuardedFile.Content) -> String? {
        let remedy = remedy(content).text(path)
        if isForeign {
            return "belongs to user \(owner), who could change it, and this runs as user \(reader); run: \(remedy)"
        }
        guard isOpen(content) else { return nil }
        return "has mode \(String(mode, radix: 8)), so others than its owner can use it; run: \(remedy)"
    }

    /// Returns the changes after which the file is trusted and the reader may open it.
    ///
    /// A secret of root's gets the reader's group: mode 600 would keep the reader out, as it does for the files of a
    /// Kubernetes secret.
    func remedy(_ content: GuardedFile.Content) -> Remedy {
        var right = self
        var remedy = Remedy()
        if isForeign {
            right.owner = reader
            remedy.owner = reader
        }
        let isHandedOver = content == .secret && right.owner == 0 && reader != 0
        if isHandedOver, !readerGroups.contains(group), let own = readerGroups.first {
            right.group = own
            remedy.group = own
        }
        if right.isOpen(content) || !right.isReadable {
            remedy.mode = content == .instructions ? 0o644 : isHandedOver ? 0o640 : 0o600
        }
        remedy.isForKubernetes = isHandedOver
        return remedy
    }

    /// Changes of a file's owner, group and mode.
    struct Remedy: Sendable, Equatable {
        /// The new owner; nil where it stays.
        var owner: UInt32?
        /// The new group; nil where it stays.
        var group: UInt32?
        /// The new mode; nil where it stays.
        var mode: UInt32?
        /// Whether the file may be one of a Kubernetes secret, whose volume determines its readers.
        var isForKubernetes = false

        /// Returns the commands for the file at `path`.
        func text(_ path: String) -> String {
            let commands = [
                owner.map { "chown \($0) \(path)" }, group.map { "chgrp \($0) \(path)" },
                mode.map { "chmod \(String($0, radix: 8)) \(path)" },
            ]
            let line = commands.compactMap(\.self).joined(separator: " && ")
            return isForKubernetes ? line + " (in Kubernetes: fsGroup, and defaultMode: 0440 for the volume)" : line
        }
    }
}

extension FileAccess {
    /// The access of this process to the file with `status`.
    init(_ status: stat) {
        var groups = [gid_t](repeating: 0, count: max(Int(getgroups(0, nil)), 0))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        self.init(
            mode: status.st_mode & 0o777, owner: status.st_uid, group: status.st_gid, reader: geteuid(),
            readerGroups: [getegid()] + groups.prefix(max(Int(count), 0)))
    }
}
