import Glibc

/// What tells one state of a file from another without reading it, whether it is written in place or another takes its name: its
/// inode, size and time of change. Links are followed, as those who hand secrets to containers change them.
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
