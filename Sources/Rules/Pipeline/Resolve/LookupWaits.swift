import AdapterKit
import Records
import Spans

/// The waits of traced events for their vendors' answers, for their traces.
struct LookupWaits: Sendable {
    /// The maximum number of entries. It is bounded because another worker may have an event by the time of its answer.
    private static let most = 10_000

    private var starts: [RecordPosition: UnixTime] = [:]

    /// Records the state of the answer for an event. A wait begins when no answer is there yet, and ends with the
    /// answer.
    mutating func heard(
        _ answer: LookupScheduler.Answer, of account: String, _ origin: RecordPosition, _ trace: EventTrace,
        at now: UnixTime
    ) {
        switch answer {
        case .expected:
            if starts.count >= Self.most { starts = [:] }
            if starts[origin] == nil { starts[origin] = now }
        case .known(let known): ended(known.name, of: account, origin, trace, at: now)
        case .failed(let failure):
            ended(failure.kind.rawValue, of: account, origin, trace, at: now, status: .failed(failure.kind.rawValue))
        }
    }

    /// Ends the wait of an event.
    ///
    /// - Parameter answer: the result, in a stable word.
    mutating func ended(
        _ answer: String, of account: String, _ origin: RecordPosition, _ trace: EventTrace, at now: UnixTime,
        status: EndedSpan.Status = .unset
    ) {
        let start = starts.removeValue(forKey: origin) ?? now
        trace.add(
            "look-up", kind: .client, from: start, to: now,
            attributes: [
                EndedSpan.Attribute("remint.lookup.account", .text(account)),
                EndedSpan.Attribute("remint.lookup.answer", .text(answer)),
            ], status: status)
    }
}
