package import Logging
import Synchronization

/// A log handler that passes on a few lines about each fault in a minute. Further ones have the level `debug`, and
/// `remint.repeats` counts them: there, and in the next line that keeps its level.
///
/// A fault is a line of `warning` or above. Its event's id, or the message of a line without one, names it, and the parts
/// it is about: app, topic, key ring. Its lane does not: each lane has clients of its own, and all of them meet the same
/// fault of a broker.
package struct LimitedLogHandler: ForwardingLogHandler {
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
    package var base: any LogHandler
    private let level: LogLevel
    private let limits = Limits()
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Lines that `base` writes; those of `level` and above, if they repeat others.
    package init(
        _ base: any LogHandler, level: LogLevel, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.base = base
        self.level = level
        self.now = now
    }

    package var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
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
