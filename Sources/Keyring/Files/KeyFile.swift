import Glibc
public import JOSE

/// A file that holds a secret: read straight into memory that is cleansed, never through a buffer that is not.
public enum KeyFile {
    /// The most a key, secret or passphrase file may hold, in bytes.
    static let limit = 64 << 10

    /// The contents of `path`.
    ///
    /// - Throws: `KeyRingError` when the file is missing, is not a file, is too large, or others than its owner and group
    ///   could read it, or others than its owner change it.
    public static func read(_ path: String) throws(KeyRingError) -> SecretBytes {
        try read(path, forbidding: foreignBits)
    }

    /// What is wrong with the mode of a secret's file that something else reads: that others than its owner and group could
    /// read it, or others than its owner change it. Nil where nothing is, or there is no such file.
    public static func exposure(of path: String) -> String? {
        var status = stat()
        return stat(path, &status) == 0 ? exposure(status, foreignBits, path) : nil
    }

    /// The contents of a file that holds no secret, but says which key signs: others may read it and not change it.
    static func readListing(_ path: String) throws(KeyRingError) -> [UInt8] {
        try read(path, forbidding: 0o022).withBytes { Array($0) }
    }

    /// Any use by others, and writing by the group.
    private static let foreignBits: mode_t = 0o027

    private static func exposure(_ status: stat, _ bits: mode_t, _ path: String) -> String? {
        guard status.st_mode & bits != 0 else { return nil }
        let mode = String(status.st_mode & 0o777, radix: 8)
        return "has mode \(mode), so others than its owner can use it; run: chmod 600 \(path)"
    }

    private static func read(_ path: String, forbidding bits: mode_t) throws(KeyRingError) -> SecretBytes {
        // Without O_NONBLOCK a named pipe would keep the worker waiting before it is found to be no file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let remedy = errno == ENOENT ? "mend the path or put the file there" : "check its owner and mode"
            throw KeyRingError(path, "cannot be opened: \(String(cString: strerror(errno))); \(remedy)")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeyRingError(path, "is not a file")
        }
        if let exposure = exposure(status, bits, path) { throw KeyRingError(path, exposure) }
        guard status.st_size <= limit else {
            throw KeyRingError(path, "is larger than \(limit) bytes, so it is no key")
        }
        return try SecretBytes(capacity: limit) { buffer throws(KeyRingError) in
            var count = 0
            while count < buffer.count {
                let read = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
                if read < 0, errno == EINTR { continue }
                guard read >= 0 else { throw KeyRingError(path, "cannot be read: \(String(cString: strerror(errno)))") }
                if read == 0 { break }
                count += read
            }
            return count
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes `contents` to `path` with mode 600, whole or not at all.
    ///
    /// - Throws: `KeyRingError`.
    public static func write(_ contents: SecretBytes, to path: String) throws(KeyRingError) {
        try DurableWrite(path: path, mode: 0o600).write(contents)
    }
}
