import AdapterKit
import Records
import Spans

/// Since when followed events wait for their vendors' answers, and what their traces say of it.
struct LookupWaits: Sendable {
    /// More are not kept: an event may be another worker's by the time its answer comes.
    private static let most = 10_000

    private var starts: [RecordPosition: UnixTime] = [:]

    /// What is known of an event's user by now. A wait begins with the first answer that is not there yet and ends with the first one
    /// that is.
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

    /// The event no longer waits.
    ///
    /// - Parameter answer: what it came to, in a stable word.
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
