import Glibc

/// The revision of a file: its inode, size and time of change. It differs between two states of the file without
/// reading it, whether the file is written in place or another file takes its name. Links are followed, as those who
/// hand secrets to containers change them.
public struct FileRevision: Sendable, Equatable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// The revision of `path`; nil where there is no such file.
    public init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
