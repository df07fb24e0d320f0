import AdapterKit

@testable import Pipeline

// MARK: How it ends

extension SessionWalk {
    /// The commit under way ends in one of the ways it can.
    mutating func finishCommit() throws(WalkFailure) {
        guard let (unit, isVisible) = committing else { return }
        if isVisible { return try succeed() }
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<15 where broker.accepts(unit): try succeed()
        case 15: abort(isBlocked: true)
        default: abort(isBlocked: false)
        }
    }

    mutating func succeed() throws(WalkFailure) {
        guard let (unit, isVisible) = committing else { return }
        if !isVisible {
            guard broker.accepts(unit) else { return abort(isBlocked: false) }
            try broker.commit(unit, at: now)
        }
        committing = nil
        lastEnd = now
        machine.committed(at: now)
        remembered = remembered.filter { $0.key > unit.lastBatch }
        note(.committed)
    }

    private mutating func abort(isBlocked: Bool) {
        committing = nil
        self.isBlocked = isBlocked
        owesRollBack = true
        (parked, resumed) = ([:], [:])
        lastAbort = now
        if isBlocked { isFixed = false }
        machine.aborted(at: now, isBlocked: isBlocked)
        note(isBlocked ? .blocked : processing == nil ? .aborted : .abortedInProcess)
    }

    /// Some end for each event of `batch`, or none yet where it may wait; one that is deferred comes back, three times at
    /// most.
    mutating func settle(_ batch: Batch) -> [EventState] {
        var stuck: Set<TopicPartition> = []
        return batch.records.map { record in
            let isStuck = batch.waiting == .resumed && stuck.contains(TopicPartition(record.origin))
            guard batch.waiting != .over, isStuck || Int.random(in: 0..<6, using: &random) == 0 else {
                return .settled(settle(record))
            }
            stuck.insert(TopicPartition(record.origin))
            return .waits(until: now.advanced(byMicroseconds: .random(in: 1...20_000, using: &random)))
        }
    }

    private mutating func settle(_ record: InputRecord) -> Settlement {
        let hops = record.value?.first ?? 0
        let kind = Int.random(in: 0..<5, using: &random)
        guard kind == 0, hops < 3 else {
            return Settlement(
                origin: record.origin, eventID: nil, app: nil,
                outcome: kind == 1 ? .deadLettered(.mintFailed) : .minted, output: nil)
        }
        let tier = min(Int(hops), Self.delays.count - 1)
        let due = UnixTime(milliseconds: now.milliseconds + Self.delays[tier])
        return Settlement(
            origin: record.origin, eventID: nil, app: nil, outcome: .deferred(tier: tier, .failed(.mintFailed)),
            output: OutputRecord(
                destination: .retries(tier: tier), key: nil, value: [hops + 1],
                headers: [RecordHeader("remint-not-before", String(due.milliseconds))]))
    }
}
