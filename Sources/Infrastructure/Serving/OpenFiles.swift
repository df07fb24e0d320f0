import Glibc
import JOSE

/// The limit on the files and sockets that this process may have open.
///
/// A process that runs into it dies: libdispatch ends the process when it cannot open `/proc`. So the limit is raised
/// before anything is opened, and whatever takes sockets from outside takes fewer than it.
public struct OpenFiles: Sendable, Equatable {
    /// The number of files that a process needs beside the connections that it accepts: connections to brokers,
    /// vendors and issuers, files of keys, the log, and connections that are being closed.
    public static let reserve = 768
    /// The number of connections that a server for operators accepts.
    public static let operators = 128
    /// The number of connections that a server may have accepted above its own limit, until it has closed them.
    public static let closing = 64

    /// The number of files that may be open at once.
    public let limit: Int

    /// A limit of `limit` files.
    public init(limit: Int) { self.limit = limit }

    /// Raises the process's limit as far as the system allows, and returns it.
    public static func raised() -> OpenFiles {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return OpenFiles(limit: 1024) }
        var most = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        if limit.rlim_cur < limit.rlim_max, setrlimit(kind, &most) == 0 { limit = most }
        return OpenFiles(limit: Int(clamping: limit.rlim_cur))
    }

    /// The number of connections from outside for which the limit leaves room.
    public var connections: Int { max(0, limit - Self.reserve) }

    /// Returns the reason why `count` connections cannot be open, and the fix, in a line; nil where they can.
    ///
    /// - Parameter holder: what has the connections, such as `pickup.connections: 50000`.
    public func problem(_ count: Int, for holder: String) -> String? {
        guard connections < count else { return nil }
        return """
            \(holder) needs \((count + Self.reserve).of("open file")), and the system allows \(limit); raise the limit \
            (ulimit -n, LimitNOFILE=, ulimits: nofile)
            """
    }
}
