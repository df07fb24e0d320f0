import Glibc

/// A port of this machine that is taken and that nobody listens on: connections are refused, as long as this lives. One that
/// a server gave back may be another test's a moment later.
package final class DeafPort: Sendable {
    package let number: Int
    private let descriptor: Int32

    package init?() {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        self.descriptor = descriptor
        number = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else { return nil }
    }

    deinit { close(descriptor) }
}
