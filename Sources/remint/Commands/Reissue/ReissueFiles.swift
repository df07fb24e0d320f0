import AdapterKit
import Foundation
import JOSE
import Keyring
import Pipeline

/// A job's files: its checkpoint, and the rows that could not be used.
struct ReissueFiles {
    let state: String
    let rejects: String

    /// The checkpoint; nil where the job was not begun.
    ///
    /// - Throws: `InputUnreadable` where the file is something else.
    func load() throws -> ReissueProgress? {
        guard let data = FileManager.default.contents(atPath: state) else { return nil }
        guard let progress = ReissueProgress(Array(data)) else {
            throw InputUnreadable(path: state, reason: "it is no checkpoint of a job; name another --state")
        }
        return progress
    }

    /// Writes the checkpoint, whole or not at all.
    ///
    /// - Throws: `KeyRingError`.
    func save(_ progress: ReissueProgress) throws {
        try KeyFile.write(SecretBytes(copying: progress.json), to: state)
    }

    /// Opens the rejected rows' file, cut where the checkpoint knows of it.
    ///
    /// - Throws: what the file system says.
    func openRejects(_ progress: ReissueProgress) throws -> FileHandle? {
        if !FileManager.default.fileExists(atPath: rejects) {
            guard
                FileManager.default.createFile(
                    atPath: rejects, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw InputUnreadable(path: rejects, reason: "it cannot be written") }
        }
        guard let handle = FileHandle(forUpdatingAtPath: rejects) else {
            throw InputUnreadable(path: rejects, reason: "it cannot be written")
        }
        try handle.truncate(atOffset: UInt64(progress.rejectsLength))
        try handle.seek(toOffset: UInt64(progress.rejectsLength))
        return handle
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
