import AdapterKit

extension BatchProcessor {
    /// Settles an event; if it has a draft, the draft is at `place`.
    mutating func settle(
        _ event: Disposition<Draft>, at place: Int, of record: InputRecord, _ signed: SignedBatch,
        _ subjects: BatchSubjects, batch number: Int, at time: UnixTime
    ) -> Progress {
        switch event {
        case .next(let draft):
            switch signed[place] {
            case .success(let token):
                admission.minted(
                    token.hash, of: draft.request.app.name, on: draft.ticket, at: time,
                    expiresAt: draft.life.expiresAt, inBatch: number)
                let reportedAt = subjects.reportedAt(place)
                return .ended(Settler.minted(draft, token.record, at: record.origin, reportedAt: reportedAt))
            case .failure(let rejection):
                return ended(.failed(rejection, .mint), record, draft.request.event, time)
            }
        case .ended(let ending, let event): return ended(ending, record, event, time)
        case .follows(let request, let leader):
            return ended(BatchSubjects.follow(signed.failure(leader)), record, request.event, time)
        case .waits(let moment): return .waits(until: moment)
        }
    }

    private mutating func ended(
        _ ending: Ending, _ record: InputRecord, _ event: ReadEvent?, _ time: UnixTime
    ) -> Progress {
        let settlement = settler.settle(ending, of: record, event, at: time)
        if let moment = settlement.notBefore { resolver.comesBack(ending, at: moment) }
        return .ended(settlement)
    }
}
