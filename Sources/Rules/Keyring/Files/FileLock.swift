import Glibc

/// An advisory lock on a file (`flock`), which ends with this value, or with the process, however that ends: a lock file that
/// lies about means nothing.
public struct FileLock: ~Copyable, Sendable {
    /// The reason why the lock was not acquired.
    public enum Failure: Error, Sendable, Equatable {
        /// Another process holds the lock.
        case held
        /// The file cannot be opened, for this reason.
        case unusable(String)
    }

    private let descriptor: Int32

    /// Takes the lock on `path`, which must be no symbolic link and is created if need be. Does not wait. A file that
    /// root creates belongs to the folder's owner.
    ///
    /// - Throws: `Failure`.
    public init(_ path: String) throws(Failure) {
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw .unusable(String(cString: strerror(errno))) }
        guard FolderOwner.adopt(opened, in: folder(of: path)) else {
            let reason = String(cString: strerror(errno))
            close(opened)
            throw .unusable(reason)
        }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            close(opened)
            throw .held
        }
        // Not before: a value whose members are there is destroyed when its initializer throws, and would close the
        // descriptor again, which may be another thread's by then.
        descriptor = opened
    }

    /// Takes the lock on `path`, and writes `holder` into the file for processes that find it held.
    ///
    /// - Throws: `Failure`.
    package init(_ path: String, holder: String) throws(Failure) {
        try self.init(path)
        let text = Array(holder.utf8)
        // For people alone: the lock is one without it.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    /// Returns the text that the holder of the lock on `path` wrote; nil where there is none that a line can show.
    package static func holder(of path: String) -> String? {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard opened >= 0 else { return nil }
        defer { close(opened) }
        var text = [UInt8](repeating: 0, count: longestHolder + 1)
        let count = pread(opened, &text, text.count, 0)
        guard 1...longestHolder ~= count, text.prefix(count).allSatisfy({ 0x20...0x7E ~= $0 }) else { return nil }
        return String(decoding: text.prefix(count), as: UTF8.self)
    }

    private static let longestHolder = 256

    /// The identity of the locked file; nil if the system does not report it.
    public var identity: FileIdentity? { FileIdentity(of: descriptor) }

    deinit {
        // By name: a child process that is being started holds copies of all descriptors until it runs.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
