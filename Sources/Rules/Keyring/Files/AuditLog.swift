import Glibc
public import JOSE

/// The log of a key ring's changes: a JSON line each, in `audit.log` beside the listing. Only ever appended to.
///
/// A change has two lines: its `intent`, which is on disk before the change begins, and its result, `done` or `failed`. An
/// intent without a result is a change that a crash interrupted; the listing shows whether it took effect.
public struct AuditLog: Sendable {
    /// The progress of a change.
    enum Stage: String, Sendable {
        case intent, done, failed
    }

    /// The file.
    public let path: String
    private let folder: String
    private let disk: Disk

    /// The log of the ring in `directory`.
    public init(_ directory: KeyRingDirectory) { self.init(directory, directory.disk) }

    init(_ directory: KeyRingDirectory, _ disk: Disk) {
        path = "\(directory.path)/audit.log"
        folder = directory.path
        self.disk = disk
    }

    /// Appends the line of a change that took effect and brings it to disk.
    ///
    /// - Parameters:
    ///   - action: The action, such as `promote`.
    ///   - version: The version that the action concerns.
    ///   - detail: Further details; never a key.
    ///   - time: The time of the action.
    /// - Throws: `KeyRingError`.
    public func append(
        _ action: String, version: String?, detail: String = "", at time: UnixTime
    ) throws(KeyRingError) {
        do throws(KeyRingError) { try write(.done, action, version, detail, at: time) } catch {
            throw error.isInterruption
                ? error : KeyRingError(path, "\(error.message). The change took effect; its last line is missing here")
        }
    }

    /// Appends the line of a change that is about to be made and brings it to disk. Where this fails, the change must not be made.
    ///
    /// - Throws: `KeyRingError`.
    package func intend(
        _ action: String, version: String?, detail: String = "", at time: UnixTime
    ) throws(KeyRingError) {
        do throws(KeyRingError) { try write(.intent, action, version, detail, at: time) } catch {
            throw error.isInterruption ? error : KeyRingError(path, "\(error.message). Nothing was changed")
        }
    }

    /// Appends the line of a change that was intended and did not take effect, where that is possible.
    package func note(failed action: String, version: String?, at time: UnixTime) {
        try? write(.failed, action, version, "", at: time)
    }

    private func write(
        _ stage: Stage, _ action: String, _ version: String?, _ detail: String, at time: UnixTime
    ) throws(KeyRingError) {
        let descriptor = try disk.run(.create, on: path) {
            open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
        }
        guard descriptor >= 0 else { throw unopened() }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeyRingError(path, "cannot be written: it is no file; move it away")
        }
        if let exposure = GuardedFile.exposure(of: path, descriptor: descriptor) { throw KeyRingError(path, exposure) }
        guard FolderOwner.adopt(descriptor, in: folder) else { throw failure() }
        // A full disk may have cut the last line.
        let start = Self.endsInLine(descriptor, size: status.st_size) ? [] : [UInt8(ascii: "\n")]
        let line = start + Self.line(stage, action, version, detail, at: time)
        // One call: lines of several operators never mix.
        let count = try disk.run(.write, on: path) {
            line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        }
        guard count >= 0 else { throw failure() }
        guard count == line.count else { throw KeyRingError(path, "cannot be written: the disk is full") }
        guard try disk.run(.sync, on: path, { fsync(descriptor) }) == 0 else { throw failure() }
        guard status.st_size == 0 else { return }
        guard try disk.sync(folder: folder) else { throw failure() }
    }

    private static func line(
        _ stage: Stage, _ action: String, _ version: String?, _ detail: String, at time: UnixTime
    ) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("time", time.description)
        json.member("operator", account)
        json.member("stage", stage.rawValue)
        json.member("action", action)
        if let version { json.member("version", version) }
        if !detail.isEmpty { json.member("detail", detail) }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func endsInLine(_ descriptor: Int32, size: Int) -> Bool {
        guard size > 0 else { return true }
        var last: UInt8 = 0
        return pread(descriptor, &last, 1, size - 1) != 1 || last == UInt8(ascii: "\n")
    }

    private func unopened() -> KeyRingError {
        guard errno == EACCES else { return failure() }
        return KeyRingError(
            path, "\(failure().message); run: chown --reference=\(folder) \(path) && chmod 640 \(path)")
    }

    private func failure() -> KeyRingError { KeyRingError(path, failed: "written") }

    /// The account that runs the program. If there is an account behind sudo, the system logs it.
    package static var account: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return "uid \(getuid())" }
        return String(cString: name)
    }
}
