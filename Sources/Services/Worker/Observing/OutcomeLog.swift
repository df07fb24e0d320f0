import AdapterKit
import Logging
import Pipeline
import Spans
import Telemetry

/// The outcomes of events that an operator should know of. The worker gathers them to log them a few times a minute and
/// not once a transaction. The details of a dead letter are in its headers.
struct OutcomeLog {
    private var dead: [String: Int] = [:]
    private var waiting: [String: Int] = [:]
    private var skewed: [String: Int] = [:]
    private var deadTraces: [String] = []
    private var waitingTraces: [String] = []
    /// The most traces in a line. To find another trace, use the headers of its dead letter.
    private static let mostTraces = 10

    /// A log without counts.
    init() {}

    init(_ unit: CommitUnit) {
        for batch in unit.batches {
            for (record, settlement) in zip(batch.records, batch.settlements) {
                if settlement.isClockSkew, let app = settlement.app { skewed[app, default: 0] += 1 }
                switch settlement.outcome {
                case .deadLettered(let code):
                    dead[code.rawValue, default: 0] += 1
                    Self.add(record, to: &deadTraces)
                case .deferred(_, let deferral):
                    waiting[deferral.name, default: 0] += 1
                    Self.add(record, to: &waitingTraces)
                case .minted, .superseded, .skipped: break
                }
            }
        }
    }

    private static func add(_ record: InputRecord, to traces: inout [String]) {
        guard traces.count < mostTraces else { return }
        guard let trace = record.trace?.context.traceID ?? TraceCarrier(record.body).traceID else { return }
        traces.append(trace)
    }

    var isEmpty: Bool { dead.isEmpty && waiting.isEmpty && skewed.isEmpty }

    /// Adds the counts of `other`.
    mutating func add(_ other: OutcomeLog) {
        dead.merge(other.dead, uniquingKeysWith: +)
        waiting.merge(other.waiting, uniquingKeysWith: +)
        skewed.merge(other.skewed, uniquingKeysWith: +)
        deadTraces = Array((deadTraces + other.deadTraces).prefix(Self.mostTraces))
        waitingTraces = Array((waitingTraces + other.waitingTraces).prefix(Self.mostTraces))
    }

    func log(to logger: Logger) {
        if !dead.isEmpty {
            logger.warning(
                "events.dead-lettered", "events were dead-lettered", metadata: Self.details(dead, deadTraces))
        }
        if !waiting.isEmpty {
            logger.notice(
                "events.waiting", "events wait in the retry tiers", metadata: Self.details(waiting, waitingTraces))
        }
        if !skewed.isEmpty {
            logger.notice(
                "devices.clock-skew", "devices call unexpired tokens expired: a wrong clock or the SDK, not the key",
                metadata: [LogKey.app: "\(Self.list(skewed))"])
        }
    }

    private static func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    private static func details(_ counts: [String: Int], _ traces: [String]) -> Logger.Metadata {
        var details: Logger.Metadata = [LogKey.errorCode: "\(list(counts))"]
        if !traces.isEmpty { details[LogKey.traces] = "\(traces.joined(separator: ", "))" }
        return details
    }
}
