package import Logging
import Synchronization

/// Keeps what was logged, and lets tests wait for a line.
package final class RecordingLog: Sendable {
    package struct Line: Sendable {
        package let level: Logger.Level
        /// The line's id; nil for a line without one.
        package let event: String?
        package let message: String
        package let metadata: [String: String]
    }

    private struct State {
        var lines: [Line] = []
        var waiters: [(fits: @Sendable (Line) -> Bool, continuation: CheckedContinuation<Line, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var lines: [Line] { state.withLock { $0.lines } }

    package func logger(_ level: Logger.Level = .debug) -> Logger {
        var logger = Logger(label: "recording") { _ in Handler(log: self) }
        logger.logLevel = level
        return logger
    }

    /// The first line that fits, of those that were logged or will be.
    package func line(where fits: @escaping @Sendable (Line) -> Bool) async -> Line {
        await withCheckedContinuation { continuation in
            let found = state.withLock { state -> Line? in
                if let line = state.lines.first(where: fits) { return line }
                state.waiters.append((fits, continuation))
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }

    /// The first line with the id `event`.
    @discardableResult
    package func line(event: String) async -> Line { await line { $0.event == event } }

    private func record(_ line: Line) {
        let ready = state.withLock { state in
            state.lines.append(line)
            let ready = state.waiters.filter { $0.fits(line) }
            state.waiters.removeAll { $0.fits(line) }
            return ready
        }
        for waiter in ready { waiter.continuation.resume(returning: line) }
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
            var details = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { $0.description }
            let id = details.removeValue(forKey: "remint.event")
            log.record(
                Line(level: event.level, event: id, message: event.message.description, metadata: details))
        }
    }
}
