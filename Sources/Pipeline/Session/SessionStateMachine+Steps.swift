public import AdapterKit

// MARK: What comes next

extension SessionStateMachine {
    /// The next step, which is to be done before the next question.
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
        return .wait(until: [moment, held, parked.soonest].compactMap { $0 }.min())
    }

    // MARK: Waiting in place

    /// What is ready is committed, once those that wait in front of it have ended, in the retry tiers if need be.
    private mutating func commitStep(at now: UnixTime) -> Action? {
        if processing != nil { return mayStandInFront ? nil : begin(at: now) }
        let inTheWay = parked.takeInTheWay(of: ended.ready, settings.shares.filling(pace: pace.secondsPerEvent))
        return inTheWay.isEmpty ? begin(at: now) : process(inTheWay, waiting: .over, at: now)
    }

    /// Whether an event that waits, or is looked at again, may stand in front of what is ready.
    private var mayStandInFront: Bool { !parked.isEmpty || processing.map { $0.waiting != .allowed } ?? false }

    /// Events whose wait is over end; those that may have been answered are looked at again, taking turns with the others.
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

    /// Until when a commit is held back; nil where there is none, or it is time. What is ready meanwhile is committed with
    /// it.
    ///
    /// A broker is not done with a transaction when it says so: the markers are still on their way, and one that follows at
    /// once is sent back to try again 20 ms later. So each rests a moment, and those that no live event waits for keep so far
    /// apart that hardly a live one comes upon them.
    private func heldBack(at now: UnixTime) -> UnixTime? {
        guard ended.committing == nil, !ended.ready.isEmpty, !isStopping else { return nil }
        let isLive = ended.ready.contains { $0.records.contains { $0.lane == .live } }
        return rhythm.rest(settings, isAwaited: isLive || !hasRoom, at: now)
    }

    /// What is ready is committed before partitions are given up; of partitions that are lost nothing may be.
    private mutating func rebalanceStep(at now: UnixTime) -> Action? {
        if isLosing, !ended.ready.isEmpty {
            putBack(inWork)
            owesRollBack = false
            return .rollBack
        }
        for lane in Lane.allCases {
            guard let rebalance = rebalances[lane] else { continue }
            // A blockage has put everything back, so that nothing is ready then.
            if case .revoked = rebalance, !ended.ready.isEmpty { return commitStep(at: now) }
            return hasOpenOffsets ? .wait(until: nil) : .answer(lane, rebalance)
        }
        return nil
    }

    /// Whether partitions of any lane are lost: what is ready may hold events of theirs.
    private var isLosing: Bool {
        Lane.allCases.contains { if case .lost = rebalances[$0] { true } else { false } }
    }

    var isRebalancing: Bool { Lane.allCases.contains { rebalances[$0] != nil } }

    private var hasRoom: Bool {
        ended.readyCount < settings.limits.ready
    }

    private mutating func begin(at now: UnixTime) -> Action {
        rhythm.began(at: now)
        return .commit(ended.begin(progress))
    }

    /// In a backlog, what came to its end since a transaction began becomes part of it while its records are on their way:
    /// more events share what each transaction costs. Live events do not wait for others than theirs.
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

    /// While a commit is under way that live events wait for, one batch in the background is enough: the slower the commits
    /// become, the less is done beside them. Of retries, which may cost next to nothing, so many that the next commit is
    /// not long for their number.
    private func isEnough(_ counts: PerLane<Int>, at now: UnixTime) -> Bool {
        guard ended.committing != nil, taken.isLiveAbout(at: now) else { return false }
        guard counts[.retries] > 0 else { return ended.ready.contains { $0.urgency == .background } }
        return ended.readyCount >= SessionLimits.readyRetries
    }

    /// Until when to wait for more; nil where it is time. While a commit is under way nothing is won by waiting.
    private func lingering(_ counts: PerLane<Int>, _ now: UnixTime) -> UnixTime? {
        let count = Lane.allCases.reduce(0) { $0 + counts[$1] }
        guard count > 0, count < settings.shares.batchEvents, ended.committing == nil, counts[.retries] == 0 else {
            return nil
        }
        let first = taken.firstArrival ?? now
        let end = first.advanced(byMicroseconds: rhythm.linger(atMost: settings.linger))
        // A clock that was set back must not hold anything up.
        return now < end && first <= now ? end : nil
    }
}
