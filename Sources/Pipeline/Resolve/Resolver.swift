import AdapterKit
import Records

/// Asks what vendors know of users before tokens are minted for them, and knows which events wait for the answers, and which events
/// stand behind one that does.
struct Resolver: Sendable {
    var scheduler: LookupScheduler
    private var waits = LookupWaits()
    /// The rule for the batch's events that would wait in their places.
    private var rule = Waiting.over
    /// The partitions of the batch whose further events stand behind one that goes on waiting.
    private var stuck: Set<TopicPartition> = []

    init(_ scheduler: LookupScheduler) { self.scheduler = scheduler }

    /// Begins a batch.
    mutating func begin(_ rule: Waiting) {
        self.rule = rule
        stuck = []
    }

    /// Whether the event at `origin` stands behind one that goes on waiting.
    func blocks(_ origin: RecordPosition) -> Bool { rule == .resumed && stuck.contains(TopicPartition(origin)) }

    /// Asks what the vendor adds to the token of `request`, the event of `record`; nothing where its app does not ask.
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

    /// Waits for the answer, which is expected at `moment`: the event waits in its place, or in the tier that lasts as long, or goes without it.
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

    /// Notes that an event that ended as `ending` comes back at `moment`, for the vendor's answer.
    mutating func comesBack(_ ending: Ending, at moment: UnixTime) {
        if case .awaits(_, let id) = ending { scheduler.keep(id, until: moment) }
    }
}
