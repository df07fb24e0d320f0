package import Logging

/// A log handler that passes on to another one the messages that a `LogLevel` admits at the moment. A level that a
/// logger sets itself has precedence.
package struct LevelledLogHandler: ForwardingLogHandler {
    package var base: any LogHandler
    private let level: LogLevel
    private var own: Logger.Level?

    /// A handler that passes the lines of `level` and above to `base`.
    package init(_ base: any LogHandler, level: LogLevel) {
        self.base = base
        self.level = level
    }

    /// The logger's own level if it set one, else the process's.
    package var logLevel: Logger.Level {
        get { own ?? level.current }
        set { own = newValue }
    }

    /// Hands `event` on; the logger looked at its level.
    package func log(event: LogEvent) { base.log(event: event) }
}
