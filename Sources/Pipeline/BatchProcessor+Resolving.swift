import AdapterKit
import Spans

extension BatchProcessor {
    /// The result of asking the vendor about a user.
    enum Resolution {
        /// The claims that it adds to the token; nothing where the app does not ask.
        case found(Enrichment)
        /// There will be no token now.
        case left(Disposition)
    }

    /// Asks what the vendor knows of the user.
    mutating func resolve(_ record: InputRecord, _ order: MintRequest, _ work: inout BatchWork) -> Resolution {
        guard let lookup = order.app.lookup else { return .found(Enrichment()) }
        let rejection: Rejection
        let answer = resolver.answer(about: order.subject.withoutChallenge, order.id, of: order.app, at: work.now)
        if let trace = record.trace {
            lookupWaits.heard(answer, of: lookup.account, record.origin, trace, at: work.now)
        }
        switch answer {
        case .known(.exists(let enrichment)): return .found(enrichment)
        case .known(.unknown) where lookup.unknownUser == .mint: return .found(Enrichment())
        case .failed where lookup.onFailure == .mint: return .found(Enrichment())
        case .expected(let moment): return expect(moment, lookup, record, order, &work)
        case .known(.unknown):
            rejection = Rejection(.userGone, "the vendor does not know this user, and lookup.unknown_user is reject")
        case .known(.gone): rejection = Rejection(.userGone, "the vendor says that this user is no more")
        case .failed(let failure):
            rejection = Rejection(.lookupFailed, "\(failure.kind.rawValue): \(failure.detail)")
        }
        return .left(.settled(settler.failed(record, order.event, rejection, .resolve, work.now)))
    }

    /// The answer is expected at `moment`: the event waits in its place, or in the tier that lasts as long, or goes without it.
    private mutating func expect(
        _ moment: UnixTime, _ lookup: AppLookup, _ record: InputRecord, _ order: MintRequest, _ work: inout BatchWork
    ) -> Resolution {
        if moment.microseconds(since: work.now) <= lookup.patience, work.rule != .over {
            work.stuck.insert(TopicPartition(record.origin))
            return .left(.waits(until: work.now.advanced(byMicroseconds: lookup.patience)))
        }
        if let trace = record.trace {
            lookupWaits.ended("awaiting", of: lookup.account, record.origin, trace, at: work.now)
        }
        if lookup.onFailure == .mint { return .found(Enrichment()) }
        let end = settler.awaiting(moment, record, order.event, work.now)
        if let until = end.comesBack { resolver.keep(order.id, until: until) }
        return .left(.settled(end.settlement))
    }
}
