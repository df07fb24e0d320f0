public import Logging
import Synchronization

/// A log handler that passes on the lines that a `LogLevel` admits at the moment, or the level that a logger set itself,
/// and of these a few about each fault in a minute. Further ones have the level `debug`, and `remint.repeats` counts
/// them: there, and in the next line that keeps its level.
///
/// A fault is a line of `warning` or above. Its event's id, or the message of a line without one, names it, and the parts
/// it is about: app, topic, key ring. Its lane does not: each lane has clients of its own, and all of them meet the same
/// fault of a broker.
package struct LimitedLogHandler: LogHandler {
    private final class Limits: Sendable {
        private let start = ContinuousClock.now
        private let limit = Mutex(RepeatLimit())

        func verdict(on fault: String, most: Int, at now: ContinuousClock.Instant) -> RepeatLimit.Verdict {
            limit.withLock { $0.verdict(on: fault, most: most, at: now - start) }
        }
    }

    private static let names = [
        LogKey.app, LogKey.topic, LogKey.partitions, LogKey.keyRing, LogKey.account, LogKey.signerSocket,
        LogKey.libraryFacility,
    ]
    private var base: any LogHandler
    private let level: LogLevel
    private var own: Logger.Level?
    private let limits = Limits()
    private let now: @Sendable () -> ContinuousClock.Instant

    package init(
        _ base: any LogHandler, level: LogLevel, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.base = base
        self.level = level
        self.now = now
    }

    package var logLevel: Logger.Level {
        get { own ?? level.current }
        set { own = newValue }
    }

    package var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    package var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    /// Hands `event` on, as a line of level `debug` if its fault had its lines of this minute.
    package func log(event: LogEvent) {
        guard event.level >= .warning, event.level < .critical else { return base.log(event: event) }
        var fault = event.metadata?[LogKey.event]?.description ?? event.message.description
        for name in Self.names {
            if let value = event.metadata?[name] { fault += "\u{0}\(name)=\(value)" }
        }
        // The library has a line for each connection, and none that a reader needs twice.
        let most = event.metadata?[LogKey.libraryFacility] == nil ? RepeatLimit.most : 1
        var event = event
        switch limits.verdict(on: fault, most: most, at: now()) {
        case .written(suppressed: 0): break
        case .written(let count): event.metadata = Self.counting(count, event)
        case .repeated(let count):
            event.level = .debug
            guard level.current <= .debug else { return }
            event.metadata = Self.counting(count, event)
        }
        base.log(event: event)
    }

    private static func counting(_ count: Int, _ event: LogEvent) -> Logger.Metadata {
        (event.metadata ?? [:]).merging([LogKey.repeats: "\(count)"]) { _, new in new }
    }
}

/// The limit on lines about the same fault: a few in any minute. A value without a clock.
public struct RepeatLimit: Sendable {
    /// The decision about a line.
    public enum Verdict: Sendable, Equatable {
        /// The line is written, with the number of lines that were not since the last one that was.
        case written(suppressed: Int)
        /// The line repeats others. The number of such lines in a row, with this one.
        case repeated(Int)
    }

    private struct Lines {
        var written: [Duration] = []
        var suppressed = 0
    }

    /// The most lines about a fault in a minute.
    public static let most = 5
    private static let window = Duration.seconds(60)
    /// The most faults that are remembered, so that no fault with endless names fills the memory.
    private static let mostFaults = 1024

    private var faults: [String: Lines] = [:]

    public init() {}

    /// Returns the decision about a line.
    ///
    /// - Parameters:
    ///   - fault: the name of the fault that the line is about.
    ///   - most: the most lines about it in a minute.
    ///   - now: the time since any moment, by a clock that nobody sets.
    public mutating func verdict(on fault: String, most: Int = Self.most, at now: Duration) -> Verdict {
        if faults[fault] == nil, faults.count >= Self.mostFaults { forget(before: now - Self.window) }
        var lines = faults[fault] ?? Lines()
        lines.written.removeAll { $0 <= now - Self.window }
        defer { faults[fault] = lines }
        guard lines.written.count < most else {
            lines.suppressed += 1
            return .repeated(lines.suppressed)
        }
        lines.written.append(now)
        defer { lines.suppressed = 0 }
        return .written(suppressed: lines.suppressed)
    }

    private mutating func forget(before limit: Duration) {
        faults = faults.filter { $0.value.written.last.map { $0 > limit } ?? false }
        if faults.count >= Self.mostFaults { faults = [:] }
    }
}

/// The least level of a process's log lines, which may change while it runs.
public final class LogLevel: Sendable {
    private let value: Mutex<Logger.Level>

    /// `level`, to begin with.
    public init(_ level: Logger.Level) { value = Mutex(level) }

    public var current: Logger.Level { value.withLock { $0 } }

    /// Lines of `level` and above are written from now on.
    public func set(_ level: Logger.Level) { value.withLock { $0 = level } }
}
