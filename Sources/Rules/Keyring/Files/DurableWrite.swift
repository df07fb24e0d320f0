import Glibc
package import JOSE

/// Writes a file so that a crash at any moment leaves none of it or all of it: into a scratch file beside it, which gets the
/// file's name once it is on disk.
package struct DurableWrite {
    /// The fate of a file that has the name already.
    package enum Placement: Sendable {
        /// The new file replaces it.
        case replacing
        /// The writing is refused.
        case new
    }

    /// Few enough that a listing takes several.
    private static let pieceBytes = 512
    private static let attempts = 16

    private let path: String
    private let mode: UInt32
    private let placement: Placement
    private let disk: Disk

    /// A write that replaces the file at `path` on `disk` by one of `mode`.
    package init(path: String, mode: UInt32, on disk: Disk = .real) {
        self.init(path: path, mode: mode, .replacing, disk)
    }

    /// A write of a file of `mode` at `path` on `disk`.
    package init(path: String, mode: UInt32, _ placement: Placement, _ disk: Disk = .real) {
        self.path = path
        self.mode = mode
        self.placement = placement
        self.disk = disk
    }

    /// Writes `contents`.
    ///
    /// - Throws: `KeyRingError`; the file is as it was then, unless only its folder could not be brought to disk.
    package func write(_ contents: SecretBytes) throws(KeyRingError) {
        try write { (sink) throws(KeyRingError) in
            try contents.withBytes { (bytes) throws(KeyRingError) in
                for start in stride(from: 0, to: bytes.count, by: Self.pieceBytes) {
                    try sink.append(UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(Self.pieceBytes)))
                }
            }
        }
    }

    /// Writes the bytes that `fill` appends.
    ///
    /// - Throws: `KeyRingError`; the file is unchanged then, unless only its folder could not be brought to disk.
    package func write(_ fill: (Sink) throws(KeyRingError) -> Void) throws(KeyRingError) {
        if placement == .replacing { try Self.requireNoLink(path) }
        let folder = folder(of: path)
        let name = String(path.split(separator: "/").last ?? "")
        try ScratchFile.removeAbandoned(in: folder, of: name, disk)
        let scratch = try create(in: folder, name)
        defer {
            // By name: a child that is being started may have the descriptor too, and would keep the lock.
            flock(scratch.descriptor, LOCK_UN)
            close(scratch.descriptor)
        }
        do throws(KeyRingError) {
            // The umask must not decide who may read a key.
            guard fchmod(scratch.descriptor, mode) == 0, FolderOwner.adopt(scratch.descriptor, in: folder) else {
                throw failure("given its owner and mode")
            }
            try fill(Sink(path: path, descriptor: scratch.descriptor, disk: disk))
            guard try disk.run(.sync, on: path, { fsync(scratch.descriptor) }) == 0 else {
                throw failure("brought to disk")
            }
            try place(scratch.path)
        } catch {
            if !error.isInterruption { _ = try disk.run(.remove, on: path) { unlink(scratch.path) } }
            throw error
        }
        guard try disk.sync(folder: folder) else { throw failure("brought to disk") }
    }

    /// Refuses a symbolic link at `path`: the rename would replace the link, and the file behind it would keep its
    /// content.
    ///
    /// - Throws: `KeyRingError` with the command that fixes it.
    package static func requireNoLink(_ path: String) throws(KeyRingError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        throw KeyRingError(
            path,
            "is a symbolic link, and a change would leave the file behind it as it is; put the file itself here: cp --remove-destination -p \"$(readlink -f \(path))\" \(path)"
        )
    }

    /// The end of an unfinished file.
    package struct Sink {
        fileprivate let path: String
        fileprivate let descriptor: Int32
        fileprivate let disk: Disk
        /// Appends `bytes`.
        ///
        /// - Throws: `KeyRingError`.
        package func append(_ bytes: [UInt8]) throws(KeyRingError) {
            try bytes.span.withUnsafeBytes { (bytes) throws(KeyRingError) in try append(bytes) }
        }

        fileprivate func append(_ bytes: UnsafeRawBufferPointer) throws(KeyRingError) {
            var written = 0
            while written < bytes.count {
                let count = try disk.run(.write, on: path) {
                    Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw KeyRingError(path, failed: "written") }
                written += count
            }
        }
    }

    private func create(in folder: String, _ name: String) throws(KeyRingError) -> (path: String, descriptor: Int32) {
        for _ in 0..<Self.attempts {
            let scratch = "\(folder)/\(ScratchFile.randomName(for: name))"
            let descriptor = try disk.run(.create, on: path) {
                open(scratch, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0o700)
            }
            if descriptor < 0, errno == EEXIST { continue }
            guard descriptor >= 0 else { throw failure("created") }
            // A file system without locks does not lock for the removal either.
            let isHeld = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            var status = stat()
            if isHeld, fstat(descriptor, &status) == 0, status.st_nlink == 1 { return (scratch, descriptor) }
            // Another command took the file for abandoned before the lock was there, and removes it.
            close(descriptor)
        }
        throw KeyRingError(path, "cannot be created: other commands keep removing its scratch file; try again")
    }

    private func place(_ scratch: String) throws(KeyRingError) {
        switch placement {
        case .replacing:
            guard try disk.run(.place, on: path, { rename(scratch, path) }) == 0 else { throw failure("put in place") }
        case .new: try placeNew(scratch)
        }
    }

    /// Places a new file with a link, which never replaces a file.
    private func placeNew(_ scratch: String) throws(KeyRingError) {
        if try disk.run(.place, on: path, { link(scratch, path) }) == 0 {
            // Where that fails, the next command removes it.
            _ = try disk.run(.remove, on: path) { unlink(scratch) }
            return
        }
        switch errno {
        case EEXIST: throw exists
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK: try placeWithoutLink(scratch)
        default: throw failure("put in place")
        }
    }

    /// Places the file on a file system without links: it reserves the name first, and replaces only its reservation.
    private func placeWithoutLink(_ scratch: String) throws(KeyRingError) {
        let reserved = try disk.run(.create, on: path) {
            open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0o700)
        }
        guard reserved >= 0 else { throw errno == EEXIST ? exists : failure("put in place") }
        close(reserved)
        guard try disk.run(.place, on: path, { rename(scratch, path) }) == 0 else {
            let failure = failure("put in place")
            _ = try disk.run(.remove, on: path) { unlink(path) }
            throw failure
        }
    }

    private var exists: KeyRingError {
        KeyRingError(path, "exists already and is not replaced, because it may hold a key; move it away, and try again")
    }

    private func failure(_ deed: String) -> KeyRingError { KeyRingError(path, failed: deed) }
}

extension KeyRingError {
    /// The failure of the system call that was to do `deed`, with the reason in `errno`.
    init(_ file: String, failed deed: String) {
        self.init(file, "cannot be \(deed): \(String(cString: strerror(errno)))")
    }
}
