import Glibc

/// An advisory lock on a file (`flock`), which ends with this value, or with the process, however that ends: a lock file that
/// lies about means nothing.
public struct FileLock: ~Copyable, Sendable {
    /// Why there is no lock.
    public enum Failure: Error, Sendable, Equatable {
        /// Somebody else holds it.
        case held
        /// The file cannot be opened, for this reason.
        case unusable(String)
    }

    private let descriptor: Int32

    /// Takes the lock on `path`, a file that is made for it if need be and is no symbolic link. Does not wait. The file that root
    /// makes belongs to the folder's owner.
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
        // Not before: a value whose members are there is destroyed when its initialiser throws, and would close the
        // descriptor again, which may be another thread's by then.
        descriptor = opened
    }

    /// Which file it is; nil where the system does not say.
    public var identity: FileIdentity? { FileIdentity(of: descriptor) }

    deinit {
        // By name: a child process that is being started holds copies of all descriptors until it runs.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
