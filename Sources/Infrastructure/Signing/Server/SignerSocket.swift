import Glibc
import Keyring

/// A Unix socket that a signer is about to listen on, and the lock that keeps a second one away.
///
/// The socket gets its mode before it gets its name and before anybody can connect, so there is no moment at which others
/// than its owner and group could.
public struct SignerSocket: ~Copyable {
    /// The longest path, in bytes: `sun_path` has 108, and the socket is made beside it first.
    public static let longestPath = 100

    let path: String
    /// The bound socket; the listener closes it.
    let descriptor: Int32
    private let lock: FileLock

    /// Binds `path`, in place of a dead signer's socket.
    ///
    /// - Throws: `SignerError` where a live signer listens there, where another file is in the way, or where the folder
    ///   cannot be written.
    init(path: String) throws(SignerError) {
        guard path.utf8.count <= Self.longestPath, !path.isEmpty else {
            throw SignerError("the socket's path must have 1 to \(Self.longestPath) bytes: \(path)")
        }
        let lock = try Self.lock(path)
        try Self.requireFree(path)
        descriptor = try Self.bind(path)
        self.lock = lock
        self.path = path
    }

    /// Removes the socket, so that the next signer may use its path.
    consuming func remove() { unlink(path) }

    private static func lock(_ path: String) throws(SignerError) -> FileLock {
        let file = "\(path).lock"
        do throws(FileLock.Failure) { return try FileLock(file) } catch {
            switch error {
            case .held: throw taken(path)
            case .unusable(let reason):
                throw SignerError("\(file) cannot be opened: \(reason); the folder must exist and be the signer's")
            }
        }
    }

    private static func requireFree(_ path: String) throws(SignerError) {
        // A socket is what cannot be opened as a file.
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        let error = errno
        if file >= 0 { close(file) }
        guard file < 0, error != ENOENT else {
            guard file < 0 else { throw SignerError("\(path) is there and is no socket; name another --socket") }
            return
        }
        guard error == ENXIO else {
            throw SignerError("\(path) is in the way (\(String(cString: strerror(error)))); name another --socket")
        }
        // Another program may listen there, which holds no lock of ours.
        let descriptor = try makeSocket()
        defer { close(descriptor) }
        let result = withAddress(path) { connect(descriptor, $0, $1) }
        guard result != 0, errno == ECONNREFUSED || errno == ENOENT else { throw taken(path) }
    }

    private static func bind(_ path: String) throws(SignerError) -> Int32 {
        let scratch = "\(path).new"
        // The lock is held: a socket there is a dead signer's. A file of another kind is not the signer's to remove.
        removeSocket(scratch)
        let descriptor = try makeSocket()
        guard withAddress(scratch, { Glibc.bind(descriptor, $0, $1) }) == 0, chmod(scratch, 0o660) == 0,
            rename(scratch, path) == 0
        else {
            let reason = reason()
            close(descriptor)
            removeSocket(scratch)
            throw SignerError("the socket \(path) cannot be made: \(reason); the folder must be the signer's to write")
        }
        return descriptor
    }

    private static func removeSocket(_ path: String) {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
    }

    private static func makeSocket() throws(SignerError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw SignerError("no socket can be opened: \(reason())") }
        return descriptor
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            // One byte stays zero.
            for (index, byte) in path.utf8.prefix(room.count - 1).enumerated() { room[index] = byte }
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func taken(_ path: String) -> SignerError {
        SignerError("another signer listens on \(path); stop it first, or name another --socket")
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
