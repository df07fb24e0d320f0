import Glibc

/// A file that is accepted only if no other account could have written it and, for a secret, read it. This is the one
/// check of modes and owners for key files, passphrases, listings, and the secrets that a configuration names.
///
/// It is read straight into memory that is cleansed, never through a buffer that is not. Links are followed, because
/// systems that give secrets to containers use them. The checked file is the link's target, the very file that is read.
package enum GuardedFile {
    /// The kind of a file's contents.
    package enum Content: Sendable {
        /// A secret: for its owner alone. Where root owns the file, its group may read it: so a secret is handed to an account
        /// that must not change it.
        case secret
        /// Instructions, which are no secret and decide what the program does: other accounts may read them and not
        /// change them.
        case instructions
    }

    /// The most a secret's file may hold, in bytes, unless the caller allows more.
    package static let limit = 64 << 10

    /// Returns the contents of `path`, without the byte order mark that some editors put before text.
    ///
    /// - Throws: `GuardedFileError` where the file is missing, is not a file, holds more than `limit` bytes, is UTF-16 text, or
    ///   others could read or change it.
    package static func read(
        _ path: String, _ content: Content = .secret, limit: Int = GuardedFile.limit
    ) throws(GuardedFileError) -> SecretBytes {
        let (descriptor, size) = try opened(path, content)
        defer { close(descriptor) }
        guard size <= limit else { throw GuardedFileError(path, "is larger than \(limit) bytes") }
        // One byte more shows a file that grows meanwhile.
        let contents = try unsafe SecretBytes(capacity: size + 1) { buffer throws(GuardedFileError) in
            try unsafe fill(buffer, from: descriptor, path)
        }
        guard contents.count <= size else {
            throw GuardedFileError(path, "was written while it was read; try again when that is done")
        }
        // Each of these files is text.
        guard unsafe !contents.withBytes({ unsafe TextMark.isUTF16($0) }) else {
            throw GuardedFileError(path, TextMark.utf16)
        }
        return contents.withoutByteOrderMark()
    }

    /// Opens the file at `path`, whose access is checked before a byte of it is read.
    private static func opened(
        _ path: String, _ content: Content
    ) throws(GuardedFileError) -> (descriptor: Int32, size: Int) {
        // Without O_NONBLOCK a named pipe would keep the worker waiting before it is found to be no file.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unopened(path, content, errno) }
        do throws(GuardedFileError) {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw GuardedFileError(path, "is not a file")
            }
            if let exposure = FileAccess(status).exposure(of: path, content) { throw GuardedFileError(path, exposure) }
            return (descriptor, Int(clamping: status.st_size))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Returns the reason not to use the file at `path`, with its remedy: it is missing, is not a file, cannot be opened by this
    /// process, or others could read or change it; nil if there is none. Reads nothing of the file.
    package static func refusal(of path: String, _ content: Content) -> String? {
        do throws(GuardedFileError) {
            close(try opened(path, content).descriptor)
            return nil
        } catch { return error.message }
    }

    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, _ path: String
    ) throws(GuardedFileError) -> Int {
        var count = 0
        while count < buffer.count {
            let read = unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw GuardedFileError(path, "cannot be read: \(reason())") }
            if read == 0 { break }
            count += read
        }
        return count
    }

    /// Returns the reason not to trust the file at `path`; nil if there is none, or no file.
    package static func exposure(of path: String, _ content: Content) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileAccess(status).exposure(of: path, content)
    }

    /// Returns whether `path` is a folder.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the error for a file that this process may not open, from `error` of `open`.
    private static func unopened(_ path: String, _ content: Content, _ error: Int32) -> GuardedFileError {
        let reason = unsafe String(cString: strerror(error))
        var status = stat()
        let remedy: String
        if error == ENOENT {
            remedy = "fix the path or put the file there"
        } else if error == EACCES, unsafe stat(path, &status) == 0 {
            remedy = "run: \(FileAccess(status).remedy(content).text(path))"
        } else if error == EACCES {
            remedy = "user \(geteuid()) may not enter one of its folders; run: namei -l \(path)"
        } else {
            remedy = "check its owner and mode"
        }
        return GuardedFileError(path, "cannot be opened: \(reason); \(remedy)")
    }

    private static func reason() -> String { unsafe String(cString: strerror(errno)) }
}

/// The reason why a file is not accepted: the file, the problem and the fix. It contains no byte of the file.
package struct GuardedFileError: Error, Sendable, Equatable {
    /// The file.
    package let path: String
    /// The mistake and its correction.
    package let message: String

    /// `message` about `path`.
    package init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }
}
