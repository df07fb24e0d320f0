import AdapterKit
import Logging
import Pipeline
import Telemetry

/// How events ended that someone should know of, gathered so that a busy worker says it once a second and not once a
/// transaction. What a dead letter says stands in its headers.
struct OutcomeLog {
    private var dead: [String: Int] = [:]
    private var waiting: [String: Int] = [:]

    /// Nothing counted yet.
    init() {}

    /// The ends of a transaction.
    init(_ transaction: CommitUnit) {
        for settlement in transaction.batches.lazy.flatMap(\.settlements) {
            switch settlement.outcome {
            case .deadLettered(let code): dead[code.rawValue, default: 0] += 1
            case .deferred(_, let deferral): waiting[deferral.name, default: 0] += 1
            case .minted, .superseded, .skipped: break
            }
        }
    }

    /// Counts what `other` counted, too.
    mutating func add(_ other: OutcomeLog) {
        dead.merge(other.dead, uniquingKeysWith: +)
        waiting.merge(other.waiting, uniquingKeysWith: +)
    }

    /// Says what was counted, and begins anew.
    mutating func tell(_ logger: Logger) {
        if !dead.isEmpty { logger.warning("events were dead-lettered", metadata: [LogKey.errorCode: Self.list(dead)]) }
        if !waiting.isEmpty {
            logger.notice("events wait in the retry tiers", metadata: [LogKey.errorCode: Self.list(waiting)])
        }
        self = OutcomeLog()
    }

    private static func list(_ counts: [String: Int]) -> Logger.MetadataValue {
        "\(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))"
    }
}
