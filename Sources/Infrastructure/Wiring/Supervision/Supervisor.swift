import Glibc

/// The service manager that started the process, such as systemd. A message that cannot be sent is dropped: the service
/// manager then acts as if the service were silent.
package struct Supervisor: Sendable {
    /// The name of the service manager's socket; it begins with `@` if it is abstract.
    private let socketName: String
    /// The time within which the service manager expects a sign of life; nil if it expects none.
    let watchdog: Duration?

    /// The service manager that `environment` names; nil if none does.
    ///
    /// - Parameter process: The id of this process. A watchdog of another process is ignored.
    package init?(_ environment: [String: String], process: Int32 = getpid()) {
        guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@"), name.utf8.count > 1
        else { return nil }
        socketName = name
        let owner = environment["WATCHDOG_PID"].map(Int32.init)
        let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil }
        watchdog = owner == nil || owner == process ? microseconds.map { .microseconds($0) } : nil
    }

    /// The present time of the monotonic clock, in microseconds.
    static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }

    /// Sends `message`. It waits for at most a second, while the service manager's queue is full.
    func send(_ message: SupervisorMessage) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The first byte of an abstract name is 0, and its length is part of the name.
        let name = socketName.hasPrefix("@") ? [0] + socketName.utf8.dropFirst() : Array(socketName.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let prefix = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let length = socklen_t(prefix + name.count + (socketName.hasPrefix("@") ? 0 : 1))
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(message.text.utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}
