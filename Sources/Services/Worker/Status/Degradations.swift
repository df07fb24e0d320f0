import Synchronization

/// The parts of a running worker that do not work as they should, while the worker still answers events. A worker with
/// such a part is ready, because another worker would not do better.
final class Degradations: Sendable {
    /// The time for which a skipped or lost record degrades the worker: as long as its alert lasts.
    static let memoryOfRecords = Duration.seconds(900)

    enum Part: String, Sendable, CaseIterable, Comparable {
        case apps
        /// No quota of the brokers makes the worker wait.
        case brokers
        case brokerTokens = "broker_tokens"
        /// The configuration's file can be used.
        case configuration
        case control
        case events
        /// Only workers are in the lanes' groups.
        case groups
        /// No key that signs is near its end, and no campaign is paused.
        case keys
        /// No lane is paused.
        case lanes
        /// The vendors answer look-ups.
        case lookups
        /// The process has memory below its limit.
        case memory
        /// The records that workers read are complete and their own.
        case records
        /// The collector accepts spans.
        case telemetry
        /// The settings of the topics keep records for as long as they are needed, and not longer.
        case topics

        static func < (left: Part, right: Part) -> Bool { left.rawValue < right.rawValue }
    }

    private struct Entry {
        let reason: String
        let begin: ContinuousClock.Instant
        let end: ContinuousClock.Instant?
    }

    private struct State {
        var entries: [Part: [String: Entry]] = [:]
        var sources: [(part: Part, reason: @Sendable () -> String?)] = []
    }

    private let state = Mutex(State())

    /// Sets the reason why `part` is degraded; nil where it works.
    ///
    /// - Parameters:
    ///   - source: the cause that the reason is about; a part can have several.
    ///   - length: the time after which the reason is forgotten; nil to keep it until it is set again.
    func set(_ part: Part, _ reason: String?, of source: String = "", for length: Duration? = nil) {
        state.withLock { state in
            let begin = state.entries[part]?[source]?.begin ?? .now
            state.entries[part, default: [:]][source] = reason.map {
                Entry(reason: $0, begin: begin, end: length.map { .now + $0 })
            }
        }
    }

    func begins(at now: ContinuousClock.Instant = .now) -> [Part: ContinuousClock.Instant] {
        state.withLock { state in
            state.entries.compactMapValues { entries in
                entries.values.filter { $0.end.map { now < $0 } ?? true }.map(\.begin).min()
            }
        }
    }

    /// Asks `reason` each time the reasons of `part` are read.
    func watch(_ part: Part, _ reason: @escaping @Sendable () -> String?) {
        state.withLock { $0.sources.append((part, reason)) }
    }

    /// The degraded parts at `now`, each with its reasons.
    func reasons(at now: ContinuousClock.Instant = .now) -> [Part: String] {
        let (entries, sources) = state.withLock { ($0.entries, $0.sources) }
        var reasons: [Part: [String]] = [:]
        for (part, entries) in entries {
            let valid = entries.sorted { $0.key < $1.key }.filter { $0.value.end.map { now < $0 } ?? true }
            reasons[part] = valid.map(\.value.reason)
        }
        for (part, reason) in sources { if let reason = reason() { reasons[part, default: []].append(reason) } }
        return reasons.compactMapValues { $0.isEmpty ? nil : $0.joined(separator: "; ") }
    }
}
