import AdapterKit
import Foundation
import JOSE
package import Keyring
import Pipeline

/// A job's files: its checkpoint, and the rows that could not be used.
package struct ReissueFiles {
    /// The checkpoint.
    package let state: String
    /// The rejected rows.
    package let rejects: String
    /// The subjects of a job out of the ledger.
    package let subjects: String
    /// The lock of the checkpoint.
    package let lock: String
    let disk: Disk

    /// The checkpoint at `state`, such as `job.json`, and its neighbors `job.rejects.jsonl`, `job.subjects` and
    /// `job.lock`.
    package init(state: String, on disk: Disk = .real) {
        self.state = state
        self.disk = disk
        let name = state.hasSuffix(".json") ? String(state.dropLast(5)) : state
        rejects = name + ".rejects.jsonl"
        subjects = name + ".subjects"
        lock = name + ".lock"
    }

    /// Reads the checkpoint; nil where the job has not begun.
    ///
    /// - Throws: `InputUnreadable` where the file is no checkpoint.
    package func load() throws -> ReissueProgress? {
        let descriptor = open(state, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw InputUnreadable(path: state, reason: Self.refusal(errno, "--state"))
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try Self.requireOwnFile(descriptor, state, "--state")
        guard let progress = ReissueProgress(Array(try handle.readToEnd() ?? Data())) else {
            throw InputUnreadable(path: state, reason: "it is no checkpoint of a job; name another --state")
        }
        return progress
    }

    /// Writes the checkpoint, whole or not at all.
    ///
    /// - Throws: `KeyRingError`.
    package func save(_ progress: ReissueProgress) throws {
        try DurableWrite(path: state, mode: 0o600, on: disk).write(SecretBytes(copying: progress.json))
    }

    /// Takes over the files of `other`, for a job that goes on under another name. The checkpoint comes last: until it
    /// is there, the job still belongs to `other`.
    ///
    /// - Throws: `KeyRingError`, or the file system's error.
    func takeOver(_ other: ReissueFiles, with progress: ReissueProgress) throws {
        for (old, new) in [(other.subjects, subjects), (other.rejects, rejects)] {
            guard access(old, F_OK) == 0 else { continue }
            guard try disk.run(.place, on: new, { rename(old, new) }) == 0 else {
                throw InputUnreadable(path: old, reason: "it cannot be renamed: \(String(cString: strerror(errno)))")
            }
        }
        try save(progress)
        _ = try disk.run(.remove, on: other.state) { unlink(other.state) }
    }

    /// Opens the file of rejected rows, cut to the length in the checkpoint. A missing file is created, for its owner
    /// alone. A link is not followed: an account that may write to the folder could have the job cut any of its files.
    ///
    /// - Throws: `InputUnreadable`, or the file system's error.
    func openRejects(_ progress: ReissueProgress) throws -> FileHandle {
        let descriptor = try disk.run(.create, on: rejects) {
            open(rejects, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        }
        guard descriptor >= 0 else { throw InputUnreadable(path: rejects, reason: Self.refusal(errno, "--state")) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try Self.requireOwnFile(descriptor, rejects, "--state")
        guard FolderOwner.adopt(descriptor, in: URL(filePath: rejects).deletingLastPathComponent().path) else {
            throw InputUnreadable(path: rejects, reason: "it cannot be given to the folder's owner")
        }
        let length = off_t(clamping: progress.rejectsLength)
        guard try disk.run(.write, on: rejects, { ftruncate(descriptor, length) }) == 0 else { throw unwritten }
        try handle.seek(toOffset: UInt64(clamping: progress.rejectsLength))
        return handle
    }

    /// Appends the lines of rejected rows to the open file and brings them to disk.
    ///
    /// - Throws: `InputUnreadable`, or `KeyRingError` in place of a crash.
    func append(_ lines: Data, to file: FileHandle) throws {
        let descriptor = file.fileDescriptor
        var rest = lines[...]
        while !rest.isEmpty {
            let count = try disk.run(.write, on: rejects) {
                rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw unwritten }
            rest = rest.dropFirst(count)
        }
        guard try disk.run(.sync, on: rejects, { fsync(descriptor) }) == 0 else { throw unwritten }
    }

    private var unwritten: InputUnreadable {
        InputUnreadable(path: rejects, reason: "it cannot be written: \(String(cString: strerror(errno)))")
    }

    private static func refusal(_ error: Int32, _ option: String) -> String {
        error == ELOOP
            ? "it is a symbolic link, which is not followed; name the file itself with \(option)"
            : "it cannot be opened: \(String(cString: strerror(error)))"
    }

    /// Refuses a pipe, a device or another account's file.
    private static func requireOwnFile(_ descriptor: Int32, _ path: String, _ option: String) throws {
        guard isOwnFile(descriptor)
        else { throw InputUnreadable(path: path, reason: "it is no file of yours; name another with \(option)") }
    }

    /// Returns a line of the rejected rows' file: the row's number and the reason, never the row's content.
    static func reject(line: Int, _ reason: String) -> Data {
        var json = JSONWriter()
        json.beginObject()
        json.member("line", Int64(line))
        json.member("reason", reason)
        json.endObject()
        return Data(json.bytes + [UInt8(ascii: "\n")])
    }
}
