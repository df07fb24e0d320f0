import Logging
import Synchronization

/// Keeps what was logged, and hands it to one waiter.
final class RecordingLog: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    private let recorded = Mutex<[Line]>([])
    private let stream: AsyncStream<Line>
    private let continuation: AsyncStream<Line>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    var logger: Logger {
        var logger = Logger(label: "recording") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    var lines: [Line] { recorded.withLock { $0 } }

    /// The first line that fits, from the beginning. Called once.
    func first(where fits: (Line) -> Bool) async -> Line? {
        for await line in stream where fits(line) { return line }
        return nil
    }

    fileprivate func record(_ line: Line) {
        recorded.withLock { $0.append(line) }
        continuation.yield(line)
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            log.record(
                Line(level: event.level, message: event.message.description, metadata: all.mapValues { $0.description })
            )
        }
    }
}
