import AdapterKit

@testable import Pipeline

// MARK: What the machine wants

extension SessionWalk {
    /// Asks the machine for its next step, checks it, and carries it out.
    mutating func carryOut() throws(WalkFailure) {
        let step = machine.next(at: now)
        if owesRollBack {
            guard case .rollBack = step else { throw WalkFailure("tokens that were not published are not forgotten") }
        }
        switch step {
        case .process(let batch): try begin(batch)
        case .commit(let unit): try begin(unit)
        case .add(let addition): try add(addition)
        case .rollBack: try rollBack()
        case .answer(let lane, let rebalance):
            guard !hasOpenOffsets else { throw WalkFailure("\(lane) is answered while offsets are open") }
            guard rebalance == asked[lane]?.rebalance else {
                throw WalkFailure("\(lane) is answered with \(rebalance)")
            }
            try answer(lane)
        case .check: try check()
        case .wait(let moment): try wait(until: moment)
        case .stop:
            guard isStopping, processing == nil, committing == nil, asked.isEmpty, remembered.isEmpty, !hasOpenOffsets
            else {
                throw WalkFailure("it stops with something in hand")
            }
            note(.stopped)
            restart()
        }
    }

    private mutating func begin(_ batch: Batch) throws(WalkFailure) {
        if batch.records.contains(where: { parked[$0.origin] != nil }) { return try resume(batch) }
        guard processing == nil, !isStopping, !isBlocked, asked.isEmpty else {
            throw WalkFailure("batch \(batch.number) is begun at the wrong time")
        }
        guard batch.number > lastNumber, batch.settlements.isEmpty else { throw WalkFailure("an old batch") }
        guard 1...(settings.shares.batchEvents + 2) ~= batch.records.count else {
            throw WalkFailure("a batch of \(batch.records.count)")
        }
        for record in batch.records {
            let partition = TopicPartition(record.origin)
            let log = broker.log(partition)
            var index = begun[partition] ?? -1
            while log.records.indices.contains(index), parked[log.records[index].origin] != nil { index += 1 }
            guard log.owner == .us, log.records.indices.contains(index), log.records[index].origin == record.origin,
                index < fetched[partition] ?? 0
            else { throw WalkFailure("\(record.origin) is out of its turn, which is number \(index)") }
            guard !machine.pausedLanes.contains(record.lane) else {
                throw WalkFailure("\(record.origin) is of a lane that rests")
            }
            guard record.lane != .retries || due(record) <= now else { throw WalkFailure("\(record.origin) is early") }
            if record.lane == .retries { note(.retried) }
            begun[partition] = index + 1
        }
        lastNumber = batch.number
        processing = batch
        remembered[batch.number] = batch
    }

    /// Events that waited in their places are looked at again: for the last time where they did so long enough, or others
    /// are ready behind them.
    private mutating func resume(_ batch: Batch) throws(WalkFailure) {
        guard processing == nil, !isBlocked, batch.number > lastNumber, batch.waiting != .allowed else {
            throw WalkFailure("batch \(batch.number) of parked events is begun at the wrong time")
        }
        for record in batch.records {
            guard let until = parked.removeValue(forKey: record.origin) else {
                throw WalkFailure("\(record.origin) was not parked")
            }
            guard broker.log(TopicPartition(record.origin)).owner == .us else {
                throw WalkFailure("\(record.origin) is another's")
            }
            resumed[record.origin] = until
            if batch.waiting == .resumed {
                note(.resumed)
            } else if until <= now {
                note(.expired)
            } else {
                let isInTheWay = ready.contains { batch in
                    batch.records.contains {
                        TopicPartition($0.origin) == TopicPartition(record.origin)
                            && $0.origin.offset > record.origin.offset
                    }
                }
                guard isInTheWay else { throw WalkFailure("\(record.origin) is in nobody's way") }
                note(.inTheWay)
            }
        }
        lastNumber = batch.number
        processing = batch
        remembered[batch.number] = batch
    }

    /// Somebody looks whether the topic can be written.
    mutating func check() throws(WalkFailure) {
        guard isBlocked, !isStopping else { throw WalkFailure("it looks at a topic at the wrong time") }
        note(.checked)
        if isFixed {
            isBlocked = false
            machine.unblocked()
        } else {
            lastAbort = now
            machine.stillBlocked(at: now)
        }
    }

    private mutating func begin(_ unit: CommitUnit) throws(WalkFailure) {
        guard committing == nil, !isBlocked else { throw WalkFailure("a commit at the wrong time") }
        try check(unit, behind: [])
        for (_, (rebalance, partitions)) in asked {
            guard case .lost = rebalance else { continue }
            guard
                partitions.allSatisfy({ partition in
                    !unit.batches.contains { $0.records.contains { TopicPartition($0.origin) == partition } }
                })
            else { throw WalkFailure("a commit of what is lost") }
        }
        committing = (unit, false)
        isOpen = true
        lastBegin = now
    }

    /// Something is added to the commit under way, or comes too late for it.
    private mutating func add(_ addition: CommitUnit) throws(WalkFailure) {
        guard let (unit, isVisible) = committing, isOpen, asked.isEmpty, !isStopping, !isBlocked else {
            throw WalkFailure("something is added at the wrong time")
        }
        try check(addition, behind: unit.batches)
        isOpen = !isVisible && Bool.random(using: &random)
        if isOpen { committing?.unit.add(addition) }
        note(isOpen ? .added : .addedLate)
        machine.added(isOpen ? addition : nil)
    }

    /// Checks that every finished batch is in the unit, with the offsets behind the batches and the committed ones.
    private func check(_ unit: CommitUnit, behind batches: [Batch]) throws(WalkFailure) {
        guard unit.batches.map(\.number) == ready.map(\.number), !unit.batches.isEmpty else {
            throw WalkFailure("not what is ready is committed: \(unit.batches.map(\.number))")
        }
        var expected: [TopicPartition: Int64] = [:]
        for record in (batches + unit.batches).flatMap(\.records) {
            let partition = TopicPartition(record.origin)
            expected[partition] = max(expected[partition] ?? 0, record.origin.offset + 1)
        }
        guard parked.keys.allSatisfy({ $0.offset >= expected[TopicPartition($0)] ?? 0 }) else {
            throw WalkFailure("a commit past an event that waits")
        }
        let offsets = Lane.allCases.reduce(into: [TopicPartition: Int64]()) { all, lane in
            all.merge(unit.offsets[lane]) { first, _ in first }
        }
        guard offsets == expected else { throw WalkFailure("offsets \(offsets), expected \(expected)") }
    }

    /// The batches that are processed and in no commit yet.
    private var ready: [Batch] {
        remembered.keys.sorted().compactMap { number in
            if number == processing?.number { return nil }
            if let last = committing?.unit.lastBatch, number <= last { return nil }
            return remembered[number]
        }
    }

    mutating func rollBack() throws(WalkFailure) {
        guard committing == nil else { throw WalkFailure("tokens are taken back while they are published") }
        if let processing { late.append(processing) }
        (processing, owesRollBack) = (nil, false)
        (remembered, parked, resumed) = ([:], [:], [:])
        for lane in Lane.allCases {
            for partition in broker.partitions(of: lane, .us) { begun[partition] = broker.log(partition).ended }
        }
    }

    private mutating func answer(_ lane: Lane) throws(WalkFailure) {
        guard let (rebalance, partitions) = asked[lane] else { throw WalkFailure("nobody asked \(lane)") }
        guard processing == nil, committing == nil else {
            throw WalkFailure("\(lane) is answered in the midst of work")
        }
        if !rebalance.isAssignment, !remembered.isEmpty { throw WalkFailure("what is given up is in hand") }
        machine.answered(lane)
        asked[lane] = nil
        for partition in partitions {
            switch rebalance {
            case .assigned:
                broker.give(partition, to: .us)
                fetched[partition] = broker.log(partition).ended
                begun[partition] = broker.log(partition).ended
            case .revoked, .lost:
                if parked.keys.contains(where: { TopicPartition($0) == partition }) { note(.droppedWhileParked) }
                parked = parked.filter { TopicPartition($0.key) != partition }
                broker.give(partition, to: Bool.random(using: &random) ? .another : .nobody)
                (fetched[partition], begun[partition]) = (nil, nil)
            }
        }
    }

    /// The longest pause after an abort, in microseconds.
    static let longestPause: Int64 = 16_000

    /// It waits only where there is a reason to, and no longer than that lasts.
    private func wait(until moment: UnixTime?) throws(WalkFailure) {
        if isBlocked, !isStopping, processing == nil, asked.isEmpty, committing == nil {
            guard let moment, moment > now, moment <= now.advanced(byMicroseconds: Self.longestPause) else {
                throw WalkFailure("nobody looks whether the topic can be written")
            }
        }
        if processing != nil || isStopping || isBlocked || !asked.isEmpty { return }
        // After an abort nothing is begun for a while.
        if let lastAbort, lastAbort.advanced(byMicroseconds: Self.longestPause) > now, let moment, moment > now {
            return
        }
        let room = settings.limits.ready - ready.reduce(0) { $0 + $1.records.count }
        if committing != nil, room <= 0 { return }
        let held = try heldBack()
        let lanes = [Lane.live, .bulk, .retries].filter { !machine.pausedLanes.contains($0) }
        let heads = lanes.flatMap { broker.partitions(of: $0, .us) }.compactMap(head)
        let fresh = heads.contains { $0.lane != .retries }
        let isBackgroundFull = ready.contains { $0.urgency == .background } && heads.allSatisfy { $0.lane != .live }
        if isBackgroundFull, committing != nil { return }
        if fresh, committing != nil { throw WalkFailure("events wait for a commit") }
        let dues = heads.filter { $0.lane == .retries }.map(due)
        let next = dues + parked.values + (fresh ? [now.advanced(byMicroseconds: linger)] : [])
        let latest = (held + (room > 0 ? next : [])).min()
        guard let latest else {
            guard moment == nil else { throw WalkFailure("it waits for nothing") }
            return
        }
        guard let moment, moment > now, moment <= latest else {
            throw WalkFailure("it waits at \(now) until \(moment?.description ?? "-"), longer than \(latest)")
        }
    }

    /// The times until which ready events wait: a moment after the end of the last commit, and, where no live event is
    /// among them, not for long after its start.
    private func heldBack() throws(WalkFailure) -> [UnixTime] {
        guard committing == nil, !ready.isEmpty else { return [] }
        let isLive = ready.contains { $0.records.contains { $0.lane == .live } }
        let isFull = ready.reduce(0) { $0 + $1.records.count } >= settings.limits.ready
        let end =
            isLive || isFull
            ? lastEnd?.advanced(byMicroseconds: settings.rest) : lastBegin?.advanced(byMicroseconds: settings.pause)
        guard let end, end > now else { throw WalkFailure("what is ready waits") }
        return [end]
    }

    /// The next event of `partition` that was fetched and is not begun.
    func head(_ partition: TopicPartition) -> InputRecord? {
        guard let index = begun[partition], let end = fetched[partition], index < end else { return nil }
        return broker.log(partition).records[index..<end].first { parked[$0.origin] == nil }
    }

    func due(_ record: InputRecord) -> UnixTime {
        UnixTime(milliseconds: record.headers.text("remint-not-before").flatMap { Int64($0) } ?? 0)
    }
}
