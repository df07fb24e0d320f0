import Foundation
import Glibc

/// Ports for programs that do not report which one the system gave them.
package enum FreePort {
    /// Returns a port of loopback that no program has, and that the system gives to nobody else.
    ///
    /// The probe keeps the port: a server that names it may have it too, because both reuse addresses and the probe does
    /// not listen. A connection before the server listens is refused.
    ///
    /// - Throws: `POSIXError` if the system has no port.
    package static func find() throws -> Int {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw POSIXError(.EMFILE) }
        var on: Int32 = 1
        setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let error = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(probe, $0, length) == 0 ? getsockname(probe, $0, &length) : -1
            }
        }
        guard error == 0 else { throw POSIXError(.EADDRINUSE) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
