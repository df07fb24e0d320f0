public import Logging
import Synchronization

/// The least level of a process's log lines, which may change while it runs.
public final class LogLevel: Sendable {
    private let value: Mutex<Logger.Level>

    /// `level`, to begin with.
    public init(_ level: Logger.Level) { value = Mutex(level) }

    public var current: Logger.Level { value.withLock { $0 } }

    /// Lines of `level` and above are written from now on.
    public func set(_ level: Logger.Level) { value.withLock { $0 = level } }
}
