public import Logging
import Synchronization

/// The least level of a process's log lines, which may change while it runs.
public final class LogLevel: Sendable {
    private let value: Mutex<Logger.Level>

    /// `level`, to begin with.
    public init(_ level: Logger.Level) { value = Mutex(level) }

    /// The level at this moment.
    public var current: Logger.Level { value.withLock { $0 } }

    /// Lines of `level` and above are written from now on.
    public func set(_ level: Logger.Level) { value.withLock { $0 = level } }
}

/// A log handler that passes on to another one the messages that a `LogLevel` admits at the moment. A level that a
/// logger sets itself has precedence.
public struct LevelledLogHandler: LogHandler {
    private var base: any LogHandler
    private let level: LogLevel
    private var own: Logger.Level?

    /// A handler that passes the lines of `level` and above to `base`.
    public init(_ base: any LogHandler, level: LogLevel) {
        self.base = base
        self.level = level
    }

    public var logLevel: Logger.Level {
        get { own ?? level.current }
        set { own = newValue }
    }

    public var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    public var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    public func log(event: LogEvent) { base.log(event: event) }
}
