package import Logging
package import Pipeline
import Synchronization
package import Telemetry

/// Counts and logs the records that were read back from a topic and are not valid. It writes at most one line in ten minutes for each
/// kind of topic and reason.
package final class UnreadableRecords: Sendable {
    /// The topic a record was read from, as the metric names it.
    package enum Kind: String, Sendable, CaseIterable {
        case tokens
        case deadLetters = "dead_letters"
        case control
        /// The metadata of committed offsets.
        case offsets
    }

    private struct Line: Hashable {
        let kind: Kind
        let fault: RecordFault
    }

    /// The time between two lines of one kind and reason.
    private static let pause = Duration.seconds(600)

    private let family: CounterFamily
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let skipped: @Sendable (String) -> Void
    private let lines = Mutex<[Line: ContinuousClock.Instant]>([:])

    /// Counts in `family`, which `counter(in:)` makes, and logs to `logger`.
    ///
    /// - Parameter skipped: A function that gets the kind of topic and the reason of each skipped record.
    package init(
        _ family: CounterFamily, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        skipped: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.skipped = skipped
        self.family = family
        self.logger = logger
        self.now = now
    }

    /// Returns the counter, which worker and gateway share.
    package static func counter(in registry: MetricsRegistry) -> CounterFamily {
        let family = registry.counter(
            "remint_unreadable_records_total",
            "Records that the process read back from a topic and skipped, by topic_kind (\(Kind.allCases.map(\.rawValue).joined(separator: ", "))) and reason (\(RecordFault.allCases.map(\.rawValue).joined(separator: ", "))).",
            labels: ["topic_kind", "reason"])
        // The first such record is an increase then, which an alert sees.
        for kind in Kind.allCases {
            for fault in RecordFault.allCases { family.add(0, kind.rawValue, fault.rawValue) }
        }
        return family
    }

    /// Counts a record of `kind` that is skipped because of `fault`.
    ///
    /// - Parameter position: the record's place; nil where it has none.
    package func count(_ fault: RecordFault, _ kind: Kind, at position: RecordPosition? = nil) {
        family.add(1, kind.rawValue, fault.rawValue)
        skipped("\(kind.rawValue), \(fault.rawValue)")
        let moment = now()
        let isDue = lines.withLock { lines in
            let line = Line(kind: kind, fault: fault)
            if let last = lines[line], moment - last < Self.pause { return false }
            lines[line] = moment
            return true
        }
        guard isDue else { return }
        var details: Logger.Metadata = [LogKey.detail: "\(kind.rawValue): \(fault.rawValue)"]
        if let position {
            details[LogKey.topic] = "\(position.topic)"
            details[LogKey.partitions] = "\(TopicPartition(position))"
            details[LogKey.offset] = "\(position.offset)"
        }
        logger.warning("record.skipped", "a record was skipped: no worker can have written it", metadata: details)
    }
}
