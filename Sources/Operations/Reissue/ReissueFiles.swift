import AdapterKit
import Foundation
import JOSE
import Keyring
import Pipeline

/// A job's files: its checkpoint, and the rows that could not be used.
package struct ReissueFiles {
    /// The checkpoint.
    package let state: String
    /// The rejected rows.
    package let rejects: String
    /// The subjects of a job out of the ledger.
    package let subjects: String

    /// The checkpoint at `state`, such as `job.json`, and its neighbours `job.rejects.jsonl` and `job.subjects`.
    package init(state: String) {
        self.state = state
        let name = state.hasSuffix(".json") ? String(state.dropLast(5)) : state
        rejects = name + ".rejects.jsonl"
        subjects = name + ".subjects"
    }

    /// The checkpoint; nil where the job was not begun.
    ///
    /// - Throws: `InputUnreadable` where the file is something else.
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
        try KeyFile.write(SecretBytes(copying: progress.json), to: state)
    }

    /// Takes the files of `other` over, for a job that goes on under another name. The checkpoint comes last: before it is there,
    /// the job is still the other's.
    ///
    /// - Throws: `KeyRingError`, or what the file system says.
    func takeOver(_ other: ReissueFiles, with progress: ReissueProgress) throws {
        for (old, new) in [(other.subjects, subjects), (other.rejects, rejects)] {
            guard access(old, F_OK) == 0 else { continue }
            guard rename(old, new) == 0 else {
                throw InputUnreadable(path: old, reason: "it cannot be renamed: \(String(cString: strerror(errno)))")
            }
        }
        try save(progress)
        unlink(other.state)
    }

    /// Opens the rejected rows' file, cut where the checkpoint knows of it. It is made where it is not there, for its owner alone.
    /// A link is not followed: whoever may write the folder could have the job cut any file of its account.
    ///
    /// - Throws: `InputUnreadable`, or what the file system says.
    func openRejects(_ progress: ReissueProgress) throws -> FileHandle {
        let descriptor = open(rejects, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw InputUnreadable(path: rejects, reason: Self.refusal(errno, "--state")) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try Self.requireOwnFile(descriptor, rejects, "--state")
        guard FolderOwner.adopt(descriptor, in: URL(filePath: rejects).deletingLastPathComponent().path) else {
            throw InputUnreadable(path: rejects, reason: "it cannot be given to the folder's owner")
        }
        try handle.truncate(atOffset: UInt64(clamping: progress.rejectsLength))
        try handle.seek(toOffset: UInt64(clamping: progress.rejectsLength))
        return handle
    }

    private static func refusal(_ error: Int32, _ option: String) -> String {
        error == ELOOP
            ? "it is a symbolic link, which is not followed; name the file itself with \(option)"
            : "it cannot be opened: \(String(cString: strerror(error)))"
    }

    /// A pipe, a device or another account's file is none of a job's.
    private static func requireOwnFile(_ descriptor: Int32, _ path: String, _ option: String) throws {
        guard isOwnFile(descriptor)
        else { throw InputUnreadable(path: path, reason: "it is no file of yours; name another with \(option)") }
    }

    /// A line of the rejected rows' file: which row, and why; never what stands in it.
    static func reject(line: Int, _ reason: String) -> Data {
        var json = JSONWriter()
        json.beginObject()
        json.member("line", Int64(line))
        json.member("reason", reason)
        json.endObject()
        return Data(json.bytes + [UInt8(ascii: "\n")])
    }
}
