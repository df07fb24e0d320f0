import AdapterKit

extension BatchProcessor {
    /// Adds an event to its batch, settled or parked. If the event has a draft, the draft is at `place`.
    mutating func settle(
        _ event: Disposition<Draft>, at place: Int, of record: InputRecord, _ signed: SignedBatch,
        _ subjects: BatchSubjects, in batch: inout Batch, at time: UnixTime
    ) {
        let settlement: Settlement
        switch event {
        case .next(let draft):
            switch signed[place] {
            case .success(let token):
                admission.minted(
                    token.hash, of: draft.request.app.name, on: draft.ticket, at: time,
                    expiresAt: draft.life.expiresAt, inBatch: batch.number)
                let reportedAt = subjects.reportedAt(place)
                settlement = Settler.minted(draft, token.record, at: record.origin, reportedAt: reportedAt)
            case .failure(let rejection):
                settlement = ended(.failed(rejection, .mint), record, draft.request.event, time)
            }
        case .ended(let ending, let event): settlement = ended(ending, record, event, time)
        case .follows(let request, let leader):
            settlement = ended(BatchSubjects.follow(signed.failure(leader)), record, request.event, time)
        case .waits(let moment): return batch.parked.append((record, until: moment))
        }
        batch.records.append(record)
        batch.settlements.append(settlement)
    }

    private mutating func ended(
        _ ending: Ending, _ record: InputRecord, _ event: ReadEvent?, _ time: UnixTime
    ) -> Settlement {
        let settlement = settler.settle(ending, of: record, event, at: time)
        if let moment = settlement.notBefore { resolver.comesBack(ending, at: moment) }
        return settlement
    }
}
