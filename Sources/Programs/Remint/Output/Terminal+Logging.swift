import ArgumentParser
import Logging
import Operations
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

/// A line on standard error from time to time, for logs and pipes.
struct ProgressLines: ProgressDisplay {
    /// The last line. The stages of a job have copies of this value, and share it.
    private final class LastLine {
        var time: ContinuousClock.Instant?
        var pace = ProgressPace()
    }

    let isShown = true
    private let interval: Duration
    private let last = LastLine()

    /// - Parameters:
    ///   - interval: the time between two lines.
    ///   - isPatient: whether the first line, too, comes only after the interval.
    private init(every interval: Duration, isPatient: Bool) {
        self.interval = interval
        if isPatient { last.time = .now }
    }

    /// Shows how many of `total` are done, if the interval has passed.
    mutating func show(_ done: Int, of total: Int, _ note: String) {
        let now = ContinuousClock.now
        let pace = last.pace.words(done, of: total, at: now)
        if let time = last.time, now - time < interval { return }
        last.time = now
        let share = total > 0 ? Int(min(1, Double(done) / Double(total)) * 100) : 100
        Terminal.error("remint: \(share) % \(note)\(pace)")
    }

    /// Keeps the written lines.
    mutating func clear() {}

    /// Returns a display that fits standard error: a bar on a terminal, otherwise a line every ten seconds.
    ///
    /// - Parameter asLines: whether somebody wants lines in any case, one every five seconds.
    static func display(asLines: Bool = false) -> any ProgressDisplay {
        if asLines { return ProgressLines(every: .seconds(5), isPatient: false) }
        let bar = ProgressLine()
        return bar.isShown ? bar : ProgressLines(every: .seconds(10), isPatient: true)
    }
}

/// Returns the result of `body`.
///
/// - Throws: `ExitCode` 75 where `body` fails, after a line that names `what` and the reason.
func orTryLater<Value>(_ what: String, _ body: () async throws -> Value) async throws -> Value {
    do { return try await body() } catch {
        Terminal.error("remint: \(what): \(error)")
        throw ExitCode(75)
    }
}
