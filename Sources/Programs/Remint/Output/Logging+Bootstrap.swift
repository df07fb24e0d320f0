import Logging
import Telemetry
import WorkerConfiguration

extension Logger {
    /// Returns the configured logger. It is made here alone: no module below sets up logging for the process.
    static func remint(_ log: Configuration.Log, label: String = "remint") -> Logger {
        remint(log, at: LogLevel(log), label: label)
    }

    /// Returns the program's logger, at a level that may change.
    static func remint(_ log: Configuration.Log, at level: LogLevel, label: String = "remint") -> Logger {
        let write = CommandContext.current.errors
        return Logger(label: label) { label in
            let format: any LogHandler =
                switch log.format {
                case .json: JSONLogHandler(label: label, level: .trace, write: write)
                case .text: TextLogHandler(level: .trace, write: write)
                }
            return LimitedLogHandler(format, level: level)
        }
    }
}

extension LogLevel {
    /// The level of the configuration.
    convenience init(_ log: Configuration.Log) { self.init(Logger.Level(rawValue: log.level) ?? .info) }
}
