import Glibc
public import JOSE

/// What was done to a key ring, a JSON line each, in `audit.log` beside the listing. Only ever added to.
public struct AuditLog: Sendable {
    /// The file.
    public let path: String

    /// The log of the ring in `directory`.
    public init(_ directory: KeyRingDirectory) { path = "\(directory.path)/audit.log" }

    /// Adds a line and brings it to disk.
    ///
    /// - Parameters:
    ///   - action: what was done, such as `promote`.
    ///   - version: to which version.
    ///   - detail: what else there is to know; never a key.
    ///   - time: when.
    /// - Throws: `KeyRingError`.
    public func append(
        _ action: String, version: String?, detail: String = "", at time: UnixTime
    ) throws(KeyRingError) {
        var json = JSONWriter()
        json.beginObject()
        json.member("time", time.description)
        json.member("operator", Self.account)
        json.member("action", action)
        if let version { json.member("version", version) }
        if !detail.isEmpty { json.member("detail", detail) }
        json.endObject()
        let line = json.bytes + [UInt8(ascii: "\n")]
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o640)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        // One call: lines of several operators never mix.
        guard line.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == line.count,
            fsync(descriptor) == 0
        else { throw failure() }
    }

    private func failure() -> KeyRingError {
        KeyRingError(path, "cannot be written: \(String(cString: strerror(errno)))")
    }

    /// Whoever runs the program: the account behind sudo, where there is one, is the system's to log.
    package static var account: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return "uid \(getuid())" }
        return String(cString: name)
    }
}
