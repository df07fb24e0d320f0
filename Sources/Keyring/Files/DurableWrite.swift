import Glibc
import JOSE

/// Replaces a file so that a crash at any moment leaves the old one or the new one: into a new file beside it that takes its
/// name once it is on disk, and then the name itself.
struct DurableWrite {
    /// What a crash may come before.
    enum Step: Sendable, CaseIterable {
        case create, write, sync, rename, syncFolder
    }

    /// Asked before each step; false ends the writing there and then, as a crash would. Tests make use of it.
    typealias Proceed = @Sendable (Step) -> Bool

    /// What unfinished files end with.
    static let scratchSuffix = ".new"
    /// Few enough that a listing takes several.
    private static let pieceBytes = 512

    let path: String
    let mode: mode_t
    var proceed: Proceed = { _ in true }

    /// - Throws: `KeyRingError`; the file is as it was then, unless the last step was reached.
    func write(_ contents: SecretBytes) throws(KeyRingError) {
        let scratch = "\(path).\(getpid())\(Self.scratchSuffix)"
        try step(.create)
        let descriptor = open(scratch, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure("created") }
        defer { close(descriptor) }
        do throws(KeyRingError) {
            // The umask must not decide who may read a key.
            guard fchmod(descriptor, mode) == 0, adopt(descriptor) else { throw failure("given its owner and mode") }
            try fill(descriptor, contents)
            try step(.sync)
            guard fsync(descriptor) == 0 else { throw failure("brought to disk") }
            try step(.rename)
            guard rename(scratch, path) == 0 else { throw failure("put in place") }
        } catch {
            if !error.isInterruption { unlink(scratch) }
            throw error
        }
        try step(.syncFolder)
        guard Self.sync(folder: folder) else { throw failure("brought to disk") }
    }

    private var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    private func fill(_ descriptor: Int32, _ contents: SecretBytes) throws(KeyRingError) {
        try contents.withBytes { bytes throws(KeyRingError) in
            var written = 0
            while written < bytes.count {
                try step(.write)
                let piece = min(Self.pieceBytes, bytes.count - written)
                let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, piece)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure("written") }
                written += count
            }
        }
    }

    /// An operator who is root must not take the ring away from the account the worker runs under.
    private func adopt(_ descriptor: Int32) -> Bool {
        guard geteuid() == 0 else { return true }
        var status = stat()
        return stat(folder, &status) == 0 && fchown(descriptor, status.st_uid, status.st_gid) == 0
    }

    private func step(_ step: Step) throws(KeyRingError) {
        guard proceed(step) else { throw KeyRingError(interrupted: path) }
    }

    private func failure(_ what: String) -> KeyRingError {
        KeyRingError(path, "cannot be \(what): \(String(cString: strerror(errno)))")
    }

    private static func sync(folder: String) -> Bool {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
