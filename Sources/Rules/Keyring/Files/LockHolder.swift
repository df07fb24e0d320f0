import Glibc
package import JOSE

/// The line in a lock's file that names its holder, for processes that find it held.
package enum LockHolder {
    /// Returns the line of this process: its account, its id, its machine, and since when.
    package static func line(since time: UnixTime) -> String {
        "\(AuditLog.account), process \(getpid()) on \(host), since \(time)"
    }

    /// The name of this machine, or of the container.
    private static var host: String {
        let longest = 64
        var name = [CChar](repeating: 0, count: longest + 1)
        guard gethostname(&name, longest) == 0 else { return "this machine" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
