/// A message to the service manager that started the process, in the protocol of sd_notify(3).
enum SupervisorMessage: Sendable, Equatable {
    /// The service has started, or has read its configuration again.
    case ready
    /// The service reads its configuration again, since this time of the monotonic clock in microseconds.
    case reloading(since: UInt64)
    /// The service is stopping.
    case stopping
    /// The service is alive; the service manager restarts a service that does not report this in time.
    case alive
    /// The condition of the service, for people.
    case status(String)

    /// The lines of the message.
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
