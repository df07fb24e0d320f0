public import AdapterKit
import Spans

extension EventTracing {
    /// Records the spans of a commit and, if it succeeded, the spans of its events.
    ///
    /// - Parameters:
    ///   - failure: the reason for a failed commit, in a stable word; nil for a successful one.
    ///   - topic: returns the topic of a destination.
    public func ended(
        _ unit: CommitUnit, failure: String?, from start: UnixTime, to end: UnixTime,
        topic: (OutputRecord.Destination) -> String
    ) {
        let records = unit.batches.lazy.flatMap(\.records)
        guard let commit = SharedTrace("commit", of: records, to: port, from: start) else { return }
        defer { commit.end(at: end, failure: failure) }
        guard failure == nil else { return }
        for batch in unit.batches {
            for (record, settlement) in zip(batch.records, batch.settlements) {
                guard let trace = record.trace else { continue }
                if let output = settlement.output {
                    trace.published(to: topic(output.destination), from: start, to: end, linked: commit.context)
                }
                trace.ended(record, as: settlement, at: end)
            }
        }
    }
}

extension EventTrace {
    /// Ends the event's span, after its settlement became visible.
    fileprivate func ended(_ record: InputRecord, as settlement: Settlement, at time: UnixTime) {
        var attributes = EndedSpan.Attribute.messaging("process", record.origin)
        attributes.append(EndedSpan.Attribute("remint.lane", .text(record.lane.rawValue)))
        attributes.append(EndedSpan.Attribute("remint.outcome", .text(settlement.outcome.name)))
        if let app = settlement.app { attributes.append(EndedSpan.Attribute("remint.app", .text(app))) }
        if let code = settlement.outcome.failure {
            attributes.append(EndedSpan.Attribute("remint.error.code", .text(code)))
        }
        ended(
            "process \(record.origin.topic)", at: time, attributes: attributes,
            status: settlement.outcome.failure.map { .failed($0) } ?? .unset)
    }
}

extension Outcome {
    /// The code of a failed attempt; nil without one.
    fileprivate var failure: String? {
        switch self {
        case .minted, .superseded, .skipped: nil
        case .deadLettered(let code): code.rawValue
        case .deferred(_, let deferral): deferral.isAttempt ? deferral.name : nil
        }
    }
}
