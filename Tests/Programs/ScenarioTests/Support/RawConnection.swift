import Dispatch
import Foundation

/// A connection over which a test sends what no HTTP client would.
enum RawConnection {
    /// Sends `bytes` to `address` and reads until the other side closes, or is silent for too long.
    ///
    /// - Parameters:
    ///   - address: an IPv4 address and a port.
    ///   - source: the loopback address that it comes from.
    ///   - silence: the seconds without a byte after which nothing more is expected.
    static func exchange(
        _ bytes: [UInt8], with address: String, from source: String = "127.0.0.1", silence: Int = 60
    ) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let answer = Self.open(to: address, from: source, silence: silence).map { connection in
                    defer { close(connection) }
                    Self.send(bytes, over: connection)
                    return Self.receive(from: connection)
                }
                continuation.resume(returning: answer ?? "")
            }
        }
    }

    /// A connection that stays open; nil where there is none. The caller closes it.
    static func open(to address: String, from source: String = "127.0.0.1", silence: Int = 60) -> Int32? {
        let parts = address.split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1]) else { return nil }
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: silence, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let isOpen =
            named(source, 0) { bind(connection, $0, $1) } == 0
            && named(String(parts[0]), port) { connect(connection, $0, $1) } == 0
        if isOpen { return connection }
        close(connection)
        return nil
    }

    /// Sends all of `bytes`, as far as the other side takes them.
    static func send(_ bytes: [UInt8], over connection: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Returns the bytes from `connection` until it closes, is silent for too long, or `isEnough` is true.
    static func receive(from connection: Int32, until isEnough: (String) -> Bool = { _ in false }) -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            all += buffer[..<count]
            if isEnough(String(decoding: all, as: UTF8.self)) { break }
        }
        return String(decoding: all, as: UTF8.self)
    }

    private static func named(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
