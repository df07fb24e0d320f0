import Glibc

/// The identity of a file of this machine, whatever its names: its device and inode.
public struct FileIdentity: Sendable, Equatable {
    /// The file system.
    public let device: UInt64
    /// The file on it.
    public let inode: UInt64

    /// The identity of the file at `path`, behind links; nil where there is none.
    init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// The open file's identity; nil where the descriptor is none.
    public init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// Returns whether `descriptor` is a file of this account, or of any account for root: no pipe, no device, no other
/// account's file.
package func isOwnFile(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        && (geteuid() == 0 || status.st_uid == geteuid())
}
