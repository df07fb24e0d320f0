public import AdapterKit
import DequeModule

/// The state machine of a worker's session, as a value: consumed events, events in work, ready batches, and the next
/// step.
///
/// It has no effects. The shell reports what happened and performs the returned steps one at a time. Only a commit runs
/// in the background, while the next batch is processed. The state machine keeps three promises in any order of events:
///
/// - A consumed event is settled once, in a committed transaction, or is consumed again.
/// - A transaction contains the offsets of an unbroken run of settled events, and no event beyond them.
/// - Nothing of a partition is committed after the partition was given up.
public struct SessionStateMachine: Sendable {
    var settings: Settings
    var progress = PerLane { _ in PartitionProgress() }
    var taken: TakenEvents
    var rebalances = PerLane<Rebalance?> { _ in nil }
    /// The lanes with an assignment whose starts are not known yet. The other lanes go on meanwhile.
    var unprepared: Set<Lane> = []
    var processing: Batch?
    var ended = EndedBatches()
    var parked = ParkedEvents()
    /// True after a batch of parked events; other events are next.
    var wasParked = false
    var rhythm = CommitRhythm()
    var publishing: Publishing
    var owesRollBack = false
    var isStopping = false
    /// The time of the last consumed event or finished commit; nil for none.
    var lastActivity: UnixTime?
    var pace = Pace()
    var nextNumber = 1
    /// The error in the program that stopped the session; nil if there is none. The session must end.
    public private(set) var fault: String?
    /// Whether an operator has paused the whole worker: it consumes nothing new.
    public var isQuiet = false
    /// The lanes paused by an operator. The worker consumes nothing of them and begins no consumed events of them.
    /// Events in work are settled and committed.
    public var pausedLanes: Set<Lane> {
        get { taken.paused }
        set { taken.paused = newValue }
    }
    /// Whether offsets of published outputs are still uncommitted. No partition is given up before they are committed,
    /// so that no other member publishes the outputs again.
    public var hasOpenOffsets = false

    /// Creates a state machine without events.
    public init(_ settings: Settings) {
        self.settings = settings
        taken = TakenEvents(settings.retries, memory: settings.memory / 2)
        publishing = Publishing(settings.backoff)
    }

    /// Applies the shares, the linger and the memory of `settings` from now on.
    public mutating func apply(_ settings: Settings) {
        self.settings = settings
        taken.limit(memory: settings.memory / 2)
    }

    // MARK: What happened

    /// Returns the records that the worker may consume of `lane` now.
    public mutating func intake(_ lane: Lane) -> Intake {
        if isStopping || rebalances[lane] != nil { return .nothing }
        if isQuiet || isBlocked || pausedLanes.contains(lane) { return .news }
        return .records(demand(lane), except: lane == .retries ? taken.throttledRetries() : [])
    }

    /// Returns the number of records of `lane` to consume while a batch is processed, for the next batch. It is 0 for
    /// retries, because their partitions may have to be paused first.
    public func demandBeside(_ lane: Lane) -> Int {
        let isResting = isQuiet || isBlocked || rebalances[lane] != nil || pausedLanes.contains(lane)
        return isResting || lane == .retries ? 0 : demand(lane)
    }

    /// Returns the number of records of `lane` that the machine has room for.
    func demand(_ lane: Lane) -> Int {
        if isStopping { return 0 }
        // Bulk leaves half of the memory to live events.
        guard lane == .retries || memory < (lane == .live ? settings.memory : settings.memory / 2) else { return 0 }
        let limit = settings.limits.ahead
        return lane == .retries ? limit : max(0, limit - taken.count(lane))
    }

    /// The memory of the consumed, unsettled events except retries that are not due, in bytes.
    private var memory: Int { taken.memory + parked.memory + ended.memory + (processing?.memory ?? 0) }

    /// Records consumed events of `lane`, each partition's in the order of their offsets.
    public mutating func received(_ records: [InputRecord], on lane: Lane, at now: UnixTime) {
        lastActivity = now
        for record in records {
            progress[lane].taken(record.origin, since: Provenance.firstFailure(of: record) ?? record.timestamp)
        }
        taken.append(records, on: lane, at: now)
    }

    /// Returns the next offset of `partition` of `lane` that is not consumed; nil for a partition that is not assigned.
    public func frontier(of partition: TopicPartition, on lane: Lane) -> Int64? {
        progress[lane].frontier(of: partition)
    }

    /// Records that `partition` of `lane` was read up to `end`, as far as its records can be read.
    public mutating func reached(_ end: Int64, of partition: TopicPartition, on lane: Lane) {
        progress[lane].reached(end, of: partition)
    }

    /// Records a rebalance of `lane`. The worker consumes nothing of the lane until the group has its answer.
    ///
    /// - Parameter isPrepared: false where the answer must wait for `prepared`. Only an assignment may wait: nothing of the lane is in
    ///   work then, and the other lanes go on.
    public mutating func rebalancing(_ lane: Lane, _ rebalance: Rebalance, isPrepared: Bool = true) {
        rebalances[lane] = rebalance
        if isPrepared || !rebalance.isAssignment { unprepared.remove(lane) } else { unprepared.insert(lane) }
    }

    /// Records that the assignment of `lane` can be answered.
    public mutating func prepared(_ lane: Lane) { unprepared.remove(lane) }

    /// Records that the group has its answer. Drops the events of partitions that were given up.
    ///
    /// - Parameter starts: the next record to read of each assigned partition.
    public mutating func answered(_ lane: Lane, from starts: [TopicPartition: Int64] = [:]) {
        switch rebalances[lane] {
        case .revoked(let partitions), .lost(let partitions): drop(Set(partitions), of: lane)
        case .assigned, nil: for (partition, start) in starts { progress[lane].began(partition, at: start) }
        }
        rebalances[lane] = nil
        unprepared.remove(lane)
    }

    /// Records a processed batch with the settlements of all its events.
    ///
    /// - Parameter seconds: the duration of the batch.
    public mutating func processed(_ number: Int, _ settlements: [Settlement], seconds: Double) {
        guard var batch = begun(number) else { return }
        batch.settlements = settlements
        processed(batch, seconds: seconds)
    }

    /// Records a processed batch with its settlements and with the events that wait in place.
    ///
    /// - Parameter seconds: the duration of the batch.
    public mutating func processed(_ batch: Batch, seconds: Double) {
        guard let begun = begun(batch.number) else { return }
        let count = batch.records.count
        guard batch.settlements.count == count, count + batch.parked.count == begun.records.count else {
            // No event without a settlement may be skipped: all of them are processed again.
            return putBack(inWork)
        }
        processing = nil
        for (record, until) in batch.parked { parked.park(record, until: until) }
        parked.workEnded()
        // Superseded and waiting events cost almost nothing, and the next batch may be all signatures.
        pace.learn(events: batch.settlements.count { $0.outcome == .minted }, seconds: seconds)
        guard count > 0 else { return }
        var settled = batch
        settled.parked = []
        ended.append(settled)
    }

    private mutating func begun(_ number: Int) -> Batch? {
        if let processing, processing.number == number { return processing }
        // The late end of a batch that was given up is nobody's. A number that no batch has is an error in the program.
        if number >= nextNumber { fail("batch \(number) was processed, and the last batch is \(nextNumber - 1)") }
        return nil
    }

    /// Records an error in the program. The session would stand still for good, or publish twice; its events are consumed
    /// again after a restart.
    private mutating func fail(_ fault: String) {
        assertionFailure(fault)
        self.fault = fault
    }

    /// Begins a new round of parked events, because answers arrived.
    public mutating func answersCame() { parked.answersCame() }

    /// Records that `addition` joined the current commit. nil: it was too late, and the batches stay ready.
    public mutating func added(_ addition: CommitUnit?) {
        guard let addition else { return ended.close() }
        // What is published and still ready would be published once more.
        if !ended.join(addition) { fail("\(addition.eventCount.of("event was", "events were")) added to no commit") }
    }

    /// Records that the current commit finished at `end`.
    public mutating func committed(at end: UnixTime) {
        guard let transaction = ended.end() else { return }
        publishing.committed()
        rhythm.ended(at: end)
        lastActivity = end
        for batch in transaction.batches {
            for record in batch.records { progress[record.lane].finished(record.origin) }
        }
        for lane in Lane.allCases { progress[lane].committed(transaction.offsets[lane]) }
    }

    /// Records that the current commit was aborted. Its events are processed again after a pause, in their old order.
    ///
    /// - Parameter isBlocked: whether an output topic cannot be written; then no batch begins until `unblocked`.
    public mutating func aborted(at now: UnixTime, isBlocked: Bool = false) {
        guard let transaction = ended.end() else { return }
        isBlocked ? publishing.blocked(at: now) : publishing.aborted(at: now)
        putBack(transaction.batches.flatMap(\.records) + inWork)
    }

    public mutating func stillBlocked(at now: UnixTime) { if isBlocked { publishing.blocked(at: now) } }

    public mutating func unblocked() { if isBlocked { publishing.unblocked() } }

    /// Whether an output topic cannot be written: no batch begins until it can.
    public var isBlocked: Bool { publishing.isBlocked }

    /// Whether partitions must be given up or the worker is stopping: a commit does not wait any longer then.
    public var isGivingUp: Bool { isStopping || isRebalancing }

    /// Stops the worker: no new event begins, and ready batches are committed.
    public mutating func stop() { isStopping = true }

    // MARK: Giving back

    var inWork: [InputRecord] { (ended.ready + (processing.map { [$0] } ?? [])).flatMap(\.records) }

    /// Puts the events in work back in front of the others, and drops their settlements.
    mutating func putBack(_ given: [InputRecord]) {
        // Otherwise, parked events would settle before the events in front of them.
        let records = Self.inOrder(given + parked.takeAll())
        ended.dropReady()
        processing = nil
        owesRollBack = true
        taken.putBack(records)
    }

    /// Returns the records with each partition's in the order of their offsets. Parked events settled after events that
    /// are behind them.
    private static func inOrder(_ records: [InputRecord]) -> [InputRecord] {
        var sorted = Dictionary(grouping: records) { TopicPartition($0.origin) }
            .mapValues { Deque($0.sorted { $0.origin.offset < $1.origin.offset }) }
        return records.compactMap { sorted[TopicPartition($0.origin)]?.popFirst() }
    }

    private mutating func drop(_ partitions: Set<TopicPartition>, of lane: Lane) {
        progress[lane].dropped(partitions)
        taken.drop(partitions, of: lane)
        parked.drop(partitions, of: lane)
    }

    // MARK: What there is to see

    /// Returns the number of consumed events of `lane` that are not in work.
    public func queued(_ lane: Lane) -> Int { taken.count(lane) }

    /// Whether fresh events are ready for the next batch.
    public var isMoreComing: Bool { taken.waiting(.live) + taken.waiting(.bulk) > 0 }

    /// The number of parked events.
    public var parkedCount: Int { parked.count }

    /// Returns the time since which the oldest consumed, unsettled event of `lane` waits: since it was produced, a retry since its
    /// first failed attempt.
    public func oldest(_ lane: Lane) -> UnixTime? { progress[lane].oldest }

    /// Returns the next unsettled record of each partition of `lane`.
    public func positions(_ lane: Lane) -> [TopicPartition: Int64] { progress[lane].positions }

    /// Whether no event is in work and no commit is running.
    public var isSettled: Bool { processing == nil && ended.isEmpty }

    /// Whether no event is consumed, in work or on its way.
    public var isIdle: Bool {
        processing == nil && ended.isEmpty && parked.isEmpty
            && Lane.allCases.allSatisfy { $0 == .retries || taken.count($0) == 0 }
    }

    // MARK: What comes next

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
