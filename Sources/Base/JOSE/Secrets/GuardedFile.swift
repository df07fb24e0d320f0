import Glibc

/// A file that is accepted only if no other account could have written or replaced it and, for a secret, read it. This is the
/// one check of modes and owners for every file on which the trust of the program rests: keys, passphrases, listings, the
/// configuration, and the files that the configuration names.
///
/// A secret is read straight into memory that is cleansed, never through a buffer that is not. Links are followed, because
/// systems that give secrets to containers use them. The checked file is the link's target, the very file that is read; the
/// folders of the link and of its target are checked, too.
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
        let (descriptor, size) = try opened(path, content, limit: limit)
        defer { close(descriptor) }
        let contents = try unsafe SecretBytes(capacity: size + 1) { buffer throws(GuardedFileError) in
            try unsafe fill(buffer, from: descriptor, path)
        }
        try unsafe contents.withBytes { bytes throws(GuardedFileError) in try unsafe check(bytes, of: size, path) }
        return contents.withoutByteOrderMark()
    }

    /// Returns the text of the instructions in `path`, without a byte order mark. No secret may be in them: the text is in ordinary
    /// memory.
    ///
    /// - Throws: `GuardedFileError`, as `read`.
    package static func instructions(_ path: String, limit: Int = GuardedFile.limit) throws(GuardedFileError) -> [UInt8]
    {
        let (descriptor, size) = try opened(path, .instructions, limit: limit)
        defer { close(descriptor) }
        var contents = [UInt8](repeating: 0, count: size + 1)
        let count = try unsafe contents.withUnsafeMutableBufferPointer { buffer throws(GuardedFileError) in
            try unsafe fill(UnsafeMutableRawBufferPointer(buffer), from: descriptor, path)
        }
        contents.removeLast(contents.count - count)
        try check(contents, of: size, path)
        return contents.starts(with: TextMark.utf8) ? Array(contents.dropFirst(TextMark.utf8.count)) : contents
    }

    /// Refuses `contents` where the file was of `size` before, with one byte more that shows a file that grows meanwhile, and
    /// where they are UTF-16: each of these files is text.
    private static func check(
        _ contents: some Collection<UInt8>, of size: Int, _ path: String
    ) throws(GuardedFileError) {
        guard contents.count <= size else {
            throw GuardedFileError(path, "was written while it was read; try again when that is done")
        }
        guard !TextMark.isUTF16(contents) else { throw GuardedFileError(path, TextMark.utf16) }
    }

    /// Opens the file at `path`, whose access is checked before a byte of it is read.
    private static func opened(
        _ path: String, _ content: Content, limit: Int = .max
    ) throws(GuardedFileError) -> (descriptor: Int32, size: Int) {
        // Without O_NONBLOCK a named pipe would keep the worker waiting before it is found to be no file.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unopened(path, content, errno) }
        do throws(GuardedFileError) {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                let isPipe = status.st_mode & S_IFMT == S_IFIFO
                throw GuardedFileError(
                    path, isPipe ? "is not a file but a pipe; save its text to a file and name that" : "is not a file")
            }
            if let exposure = exposure(of: path, status, content) { throw GuardedFileError(path, exposure) }
            let size = Int(clamping: status.st_size)
            guard size <= limit else { throw GuardedFileError(path, "is larger than \(limit) bytes") }
            return (descriptor, size)
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

    /// Returns the reason not to trust the file at `path`, or the folder that is used as a whole; nil if there is none, or neither.
    package static func exposure(of path: String, _ content: Content) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { return nil }
        return exposure(of: path, status, content)
    }

    private static func exposure(of path: String, _ status: stat, _ content: Content) -> String? {
        let own =
            status.st_mode & S_IFMT == S_IFDIR
            ? FolderAccess(path)?.exposure(of: path) : FileAccess(status).exposure(of: path, content)
        return own ?? FolderAccess.exposure(onTheWayTo: path)
    }

    /// Returns the reason not to trust the open file `descriptor` of `path`, which holds instructions; nil if there is none.
    package static func exposure(of path: String, descriptor: Int32) -> String? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return "cannot be checked: \(reason())" }
        return exposure(of: path, status, .instructions)
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
