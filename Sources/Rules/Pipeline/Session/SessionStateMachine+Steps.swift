public import AdapterKit

// MARK: What comes next

extension SessionStateMachine {
    /// Returns the next step. Perform it before you ask for another.
    public mutating func next(at now: UnixTime) -> Action {
        if owesRollBack {
            owesRollBack = false
            return .rollBack
        }
        if !isStopping, publishing.beginsCheck(at: now) { return .check }
        if processing == nil, ended.committing == nil, let step = rebalanceStep(at: now) { return step }
        if !isStopping, let rest = publishing.rest(at: now) { return .wait(until: rest) }
        let held = heldBack(at: now)
        if ended.committing == nil, !ended.ready.isEmpty, !isBlocked, !isLosing, held == nil,
            let step = commitStep(at: now)
        {
            return step
        }
        if let step = additionStep(at: now) { return step }
        if let step = parkedStep(at: now) { return step }
        if isStopping, processing == nil, ended.committing == nil { return hasOpenOffsets ? .wait(until: nil) : .stop }
        guard processing == nil, !isStopping, !isBlocked, !isRebalancing, hasRoom else {
            return .wait(until: [held, publishing.nextCheck].compactMap { $0 }.min())
        }
        let step = nextBatch(at: now)
        guard case .wait(let moment) = step else { return step }
        if let commit = idleStep(at: now) { return commit }
        return .wait(until: [moment, held, parked.soonest].compactMap { $0 }.min())
    }

    // MARK: Nothing to do

    /// Commits the offsets behind the last records, without an event, once the worker has had nothing to do for a while: what is left
    /// between them and the ends of the partitions is no record, and would look like records that wait.
    private mutating func idleStep(at now: UnixTime) -> Action? {
        guard ended.isEmpty, Lane.allCases.contains(where: { progress[$0].isCommittable }) else { return nil }
        // After a clock was set back, the wait begins again.
        guard let last = lastActivity, last <= now else {
            lastActivity = now
            return nil
        }
        return now.microseconds(since: last) >= settings.idle ? begin(at: now) : nil
    }

    // MARK: Waiting in place

    /// Begins a commit of the ready batches. Settles the events that wait in front of them first, in the retry tiers if
    /// necessary.
    private mutating func commitStep(at now: UnixTime) -> Action? {
        if processing != nil { return mayStandInFront ? nil : begin(at: now) }
        let inTheWay = parked.takeInTheWay(of: ended.ready, settings.shares.filling(pace: pace.secondsPerEvent))
        return inTheWay.isEmpty ? begin(at: now) : process(inTheWay, waiting: .over, at: now)
    }

    /// Whether a parked or resumed event may be in front of ready ones.
    private var mayStandInFront: Bool { !parked.isEmpty || processing.map { $0.waiting != .allowed } ?? false }

    /// Settles parked events whose wait is over. Checks parked events that may have an answer again, in turn with other
    /// events.
    private mutating func parkedStep(at now: UnixTime) -> Action? {
        guard processing == nil, !parked.isEmpty, !isBlocked, !isLosing, !isStopping else { return nil }
        guard !wasParked || taken.waiting(.live) == 0 else { return nil }
        let limit = settings.shares.filling(pace: pace.secondsPerEvent)
        let expired = parked.takeExpired(at: now, limit)
        guard expired.isEmpty else {
            wasParked = true
            return process(expired, waiting: .over, at: now)
        }
        guard parked.hasRound else { return nil }
        let round = parked.takeRound(limit)
        guard !round.isEmpty else { return nil }
        wasParked = true
        return process(round, waiting: .resumed, at: now)
    }

    private mutating func process(_ records: [InputRecord], waiting: Waiting, at now: UnixTime) -> Action {
        let isBulk = records.allSatisfy { $0.lane == .bulk }
        let urgency: SigningUrgency = isBulk && taken.isLiveAbout(at: now) ? .background : .live
        let batch = Batch(number: nextNumber, records: records, urgency: urgency, waiting: waiting)
        nextNumber += 1
        processing = batch
        return .process(batch)
    }

    /// Returns the end of the rest before the next commit; nil if there is none. Batches that are ready by then join
    /// the commit.
    ///
    /// After a broker confirms a transaction, its markers are still on their way. A transaction that follows at once is
    /// sent back for a retry 20 ms later. So each commit is followed by a rest. Commits that no live event waits for
    /// are further apart, so that a live event rarely meets one.
    private func heldBack(at now: UnixTime) -> UnixTime? {
        guard ended.committing == nil, !ended.ready.isEmpty, !isStopping else { return nil }
        let isLive = ended.ready.contains { $0.records.contains { $0.lane == .live } }
        return rhythm.rest(settings, isAwaited: isLive || !hasRoom, at: now)
    }

    /// Commits the ready batches before the worker gives partitions up. Puts back all events in work if partitions are
    /// lost, because nothing of a lost partition may be committed.
    private mutating func rebalanceStep(at now: UnixTime) -> Action? {
        if isLosing, !ended.ready.isEmpty {
            putBack(inWork)
            owesRollBack = false
            return .rollBack
        }
        for lane in Lane.allCases {
            guard let rebalance = rebalances[lane], !unprepared.contains(lane) else { continue }
            // A blocked topic has put everything back, so that no batch is ready.
            if case .revoked = rebalance, !ended.ready.isEmpty { return commitStep(at: now) }
            return hasOpenOffsets ? .wait(until: nil) : .answer(lane, rebalance)
        }
        return nil
    }

    /// Whether partitions of any lane are lost: ready batches may contain their events.
    private var isLosing: Bool {
        Lane.allCases.contains { if case .lost = rebalances[$0] { true } else { false } }
    }

    var isRebalancing: Bool { Lane.allCases.contains { rebalances[$0] != nil && !unprepared.contains($0) } }

    private var hasRoom: Bool {
        ended.readyCount < settings.limits.ready
    }

    private mutating func begin(at now: UnixTime) -> Action {
        rhythm.began(at: now)
        return .commit(ended.begin(progress))
    }

    /// Adds batches to the current commit in a backlog, while its records are still on their way: more events share the
    /// cost of a transaction. Live events wait only for batches that contain live events.
    private func additionStep(at now: UnixTime) -> Action? {
        guard let committing = ended.growing, !isStopping, !isRebalancing, !mayStandInFront else {
            return nil
        }
        let limits = settings.limits
        guard ended.readyCount >= limits.batch, committing.eventCount + ended.readyCount <= limits.commit else {
            return nil
        }
        let isLive = ended.ready.allSatisfy { $0.records.contains { $0.lane == .live } }
        return isLive || !taken.isLiveAbout(at: now) ? .add(ended.addition(to: progress)) : nil
    }

    private mutating func nextBatch(at now: UnixTime) -> Action {
        let limit = settings.shares.batchEvents
        let waitingCounts = taken.ready(at: now, limit: limit)
        if let moment = lingering(waitingCounts, now) {
            return .wait(until: min(moment, taken.nextRetry ?? moment))
        }
        let counts = settings.shares.next(
            of: waitingCounts, pace: pace.secondsPerEvent, isLiveAbout: taken.isLiveAbout(at: now))
        if counts[.live] == 0, isEnough(counts, at: now) {
            return .wait(until: counts[.retries] == 0 ? taken.nextRetry : nil)
        }
        let records = taken.take(counts, at: now)
        guard !records.isEmpty else { return .wait(until: taken.nextRetry) }
        wasParked = false
        let isFull = parked.count >= settings.limits.parked
        return process(records, waiting: isFull ? .over : .allowed, at: now)
    }

    /// Returns whether the ready events are enough while a commit runs. If live events are expected, one background
    /// batch is enough: slower commits mean less work beside them. For retries, which may cost almost nothing, a number
    /// limits the size of the next commit.
    private func isEnough(_ counts: PerLane<Int>, at now: UnixTime) -> Bool {
        guard ended.committing != nil, taken.isLiveAbout(at: now) else { return false }
        guard counts[.retries] > 0 else { return ended.ready.contains { $0.urgency == .background } }
        return ended.readyCount >= SessionLimits.readyRetries
    }

    /// Returns the time until which the batch waits for more events; nil if it begins now. During a commit, a wait
    /// gains nothing.
    private func lingering(_ counts: PerLane<Int>, _ now: UnixTime) -> UnixTime? {
        let count = Lane.allCases.reduce(0) { $0 + counts[$1] }
        guard count > 0, count < settings.shares.batchEvents, ended.committing == nil, counts[.retries] == 0 else {
            return nil
        }
        let first = taken.firstArrival ?? now
        let end = first.advanced(byMicroseconds: rhythm.linger(atMost: settings.linger))
        // A clock that was set back must not delay a batch.
        return now < end && first <= now ? end : nil
    }
}
