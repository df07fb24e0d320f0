import Glibc

/// What changes with a file's contents, whether it is written in place or another takes its name; links are followed, as
/// those who hand secrets to containers change them.
package struct FileRevision: Sendable, Equatable {
    /// How often it is looked at.
    static let interval = Duration.seconds(2)

    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// The revision of `path`; nil where there is no such file.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
