import Glibc
import Synchronization

/// The reports of a service to its service manager: that it has started, that it is alive, and its condition.
package final class Supervision: Sendable {
    /// The interval between two looks at a service that is starting.
    private static let startInterval = Duration.milliseconds(100)
    /// The interval between two looks without a watchdog.
    private static let restInterval = Duration.seconds(5)

    private let supervisor: Supervisor
    private let hasStarted = Mutex(false)
    private let isStarted: @Sendable () -> Bool
    private let condition: @Sendable () -> String

    /// The reports to `supervisor`.
    ///
    /// - Parameters:
    ///   - isStarted: Returns whether the service has started; the service may also report it with `started()`.
    ///   - condition: Returns the condition of the service, for people.
    package init(
        _ supervisor: Supervisor, isStarted: @escaping @Sendable () -> Bool = { false },
        condition: @escaping @Sendable () -> String = { "" }
    ) {
        self.supervisor = supervisor
        self.isStarted = isStarted
        self.condition = condition
    }

    /// Reports, once, that the service has started.
    package func started() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        if isFirst { supervisor.send(.ready) }
    }

    /// Reports until the task is canceled. A service that is not alive gets silent, so the service manager restarts it.
    ///
    /// - Parameter isAlive: Returns whether the service is alive, as its liveness probe does.
    package func run(isAlive: @Sendable () -> Bool) async {
        var reported = ""
        while !Task.isCancelled {
            if isStarted() { started() }
            if supervisor.watchdog != nil, isAlive() { supervisor.send(.alive) }
            let now = condition()
            if now != reported { supervisor.send(.status(now)) }
            reported = now
            let rest = supervisor.watchdog.map { $0 / 2 } ?? Self.restInterval
            // The interval of the watchdog's signs of life. The loop's condition checks for cancellation.
            try? await Task.sleep(for: hasStarted.withLock { $0 } ? rest : Self.startInterval)
        }
    }

    /// Reports that the configuration is read again. The returned function reports that this is done. A service that has
    /// not started reports neither: the end of a reload would read as its start.
    package func reloading() -> @Sendable () -> Void {
        guard hasStarted.withLock({ $0 }) else { return {} }
        supervisor.send(.reloading(since: Supervisor.monotonicMicroseconds))
        return { [supervisor] in supervisor.send(.ready) }
    }

    package func stopping() { supervisor.send(.stopping) }
}

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

/// A message to the service manager that started the process, in the protocol of sd_notify(3).
enum SupervisorMessage: Sendable, Equatable {
    /// The service has started, or has read its configuration again.
    case ready
    /// The service reads its configuration again, since this time of the monotonic clock in microseconds.
    case reloading(since: UInt64)
    case stopping
    /// The service is alive; the service manager restarts a service that does not report this in time.
    case alive
    /// The condition of the service, for people.
    case status(String)

    var text: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(since)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        case .status(let text): "STATUS=\(text.split(whereSeparator: \.isNewline).joined(separator: " "))"
        }
    }
}
