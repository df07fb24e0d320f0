import AdapterKit
import Records
import Spans

/// Asks vendors about users before the worker mints their tokens. Tracks the events that wait for the answers, and the
/// events behind them.
struct Resolver: Sendable {
    var scheduler: LookupScheduler
    private var waits = LookupWaits()
    /// The rule for events of the batch that would wait in place.
    private var rule = Waiting.over
    /// The partitions of the batch in which an event continues to wait, so that the events behind it wait too.
    private var stuck: Set<TopicPartition> = []

    init(_ scheduler: LookupScheduler) { self.scheduler = scheduler }

    mutating func begin(_ rule: Waiting) {
        self.rule = rule
        stuck = []
    }

    /// Returns whether the event at `origin` is behind one that continues to wait.
    func blocks(_ origin: RecordPosition) -> Bool { rule == .resumed && stuck.contains(TopicPartition(origin)) }

    /// Returns the vendor's additions to the token of `request`, the event of `record`; none if its app has no look-up.
    mutating func resolve(_ request: MintRequest, of record: InputRecord, at now: UnixTime) -> Disposition<Enrichment> {
        guard let lookup = request.app.lookup else { return .next(Enrichment()) }
        let answer = scheduler.answer(about: request.subject.withoutChallenge, request.id, of: request.app, at: now)
        if let trace = record.trace { waits.heard(answer, of: lookup.account, record.origin, trace, at: now) }
        let rejection: Rejection
        switch answer {
        case .known(.exists(let enrichment)): return .next(enrichment)
        case .known(.unknown) where lookup.unknownUser == .mint: return .next(Enrichment())
        case .failed where lookup.onFailure == .mint: return .next(Enrichment())
        case .expected(let moment): return wait(for: moment, lookup, request, record, now)
        case .known(.unknown):
            rejection = Rejection(.userGone, "the vendor does not know this user, and lookup.unknown_user is reject")
        case .known(.gone): rejection = Rejection(.userGone, "the vendor returned that this user is gone")
        case .failed(let failure):
            rejection = Rejection(.lookupFailed, "\(failure.kind.rawValue): \(failure.detail)")
        }
        return .ended(.failed(rejection, .resolve), of: request.event)
    }

    /// Waits for the answer, which is expected at `moment`. The event waits in place or in the shortest tier that is
    /// long enough, or gets its token without the answer.
    private mutating func wait(
        for moment: UnixTime, _ lookup: AppLookup, _ request: MintRequest, _ record: InputRecord, _ now: UnixTime
    ) -> Disposition<Enrichment> {
        if moment.microseconds(since: now) <= lookup.patience, rule != .over {
            stuck.insert(TopicPartition(record.origin))
            return .waits(until: now.advanced(byMicroseconds: lookup.patience))
        }
        if let trace = record.trace {
            waits.ended("awaiting", of: lookup.account, record.origin, trace, at: now)
        }
        if lookup.onFailure == .mint { return .next(Enrichment()) }
        return .ended(.awaits(moment, about: request.id), of: request.event)
    }

    /// Records that an event that was settled with `ending` returns at `moment` for the vendor's answer.
    mutating func comesBack(_ ending: Ending, at moment: UnixTime) {
        if case .awaits(_, let id) = ending { scheduler.keep(id, until: moment) }
    }
}

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
