import Logging
import Telemetry
import WorkerConfiguration

extension Logger {
    /// A logger as the configuration wants it. Made here alone: no module below sets up logging for the process.
    static func remint(_ log: Configuration.Log, label: String = "remint") -> Logger {
        let level = Logger.Level(rawValue: log.level) ?? .info
        return Logger(label: label) { label in
            switch log.format {
            case .json: return JSONLogHandler(label: label, level: level)
            case .text:
                var handler = StreamLogHandler.standardError(label: label)
                handler.logLevel = level
                return handler
            }
        }
    }
}
