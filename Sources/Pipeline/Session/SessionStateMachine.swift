public import AdapterKit
import DequeModule

/// The worker's course, as a value: what was taken, what is in work, what is ready, and what comes next.
///
/// It does nothing itself. The shell tells it what happened and carries out the step it names, one at a time; only a commit
/// goes on in the background, while the next batch is processed. Three promises are kept here, whatever happens in
/// whatever order:
///
/// - an event that was taken ends once, in a transaction that was committed, or is taken again;
/// - a transaction holds the offsets of an unbroken run of ended events, and nothing of an event beyond them;
/// - nothing of a partition is committed after it was given up.
public struct SessionStateMachine: Sendable {
    /// In batches: how many fresh events are taken ahead, how many may be ready while a commit is under way, how many may
    /// wait in their places, and how many a transaction may grow to.
    ///
    /// One commit follows the other between two batches alone. So batches are small, and several of them make a transaction.
    private static let (ahead, readiness, parking, growth) = (2, 3, 4, 7)
    /// How many events are ready at most when another batch without live ones is begun beside a commit.
    private static let enoughRetries = 100

    private var settings: Settings
    private var progress = PerLane { _ in PartitionProgress() }
    private var taken: TakenEvents
    private var rebalances = PerLane<Rebalance?> { _ in nil }
    private var processing: Batch?
    private var ended = EndedBatches()
    private var parked = ParkedEvents()
    /// Whether the last batch was of events that were parked, so that the others have their turn.
    private var wasParked = false
    private var rhythm = CommitRhythm()
    private var publishing: Publishing
    private var owesRollBack = false
    private var isStopping = false
    private var pace = Pace()
    private var nextNumber = 1
    /// Whether nothing new is taken, because an operator says so.
    public var isQuiet = false
    /// The lanes that rest, because an operator says so: nothing of them is taken, and what was taken of them is not begun. What is in
    /// work ends, and is committed.
    public var pausedLanes: Set<Lane> {
        get { taken.paused }
        set { taken.paused = newValue }
    }
    /// Whether offsets of what was published are still to be committed: what was published is not left to be repeated by others,
    /// so that no partition is given up before.
    public var hasOpenOffsets = false

    /// Nothing taken yet.
    public init(_ settings: Settings) {
        self.settings = settings
        taken = TakenEvents(settings.retries, memory: settings.memory / 2)
        publishing = Publishing(settings.backoff)
    }

    /// Goes on with other shares, another linger and another memory.
    public mutating func goOn(with settings: Settings) {
        self.settings = settings
        taken.limit(memory: settings.memory / 2)
    }

    // MARK: What happened

    /// What is taken of `lane` now.
    public mutating func intake(_ lane: Lane) -> Intake {
        if isStopping || rebalances[lane] != nil { return .nothing }
        if isQuiet || isBlocked || pausedLanes.contains(lane) { return .news }
        return .records(demand(lane), except: lane == .retries ? taken.throttledRetries() : [])
    }

    /// How many records of `lane` are taken while a batch is processed: what there is of them by then stands ready for the next
    /// one. None of the retries, for partitions of theirs may have to be paused first.
    public func demandBeside(_ lane: Lane) -> Int {
        let isResting = isQuiet || isBlocked || rebalances[lane] != nil || pausedLanes.contains(lane)
        return isResting || lane == .retries ? 0 : demand(lane)
    }

    /// How many records of `lane` there is room for.
    func demand(_ lane: Lane) -> Int {
        if isStopping { return 0 }
        // Bulk leaves half of the memory to live events.
        guard lane == .retries || memory < (lane == .live ? settings.memory : settings.memory / 2) else { return 0 }
        let limit = settings.shares.batchEvents * Self.ahead
        return lane == .retries ? limit : max(0, limit - taken.count(lane))
    }

    /// How much memory the events take that were taken and have not ended, but for retries before their moment; in bytes.
    private var memory: Int { taken.memory + parked.memory + ended.memory + (processing?.memory ?? 0) }

    /// Records of `lane` were taken, each partition's in the order of their offsets.
    public mutating func received(_ records: [InputRecord], on lane: Lane, at now: UnixTime) {
        for record in records { progress[lane].taken(record.origin, producedAt: record.timestamp) }
        taken.append(records, on: lane, at: now)
    }

    /// The group asks something of `lane`. Nothing more is taken of the lane until it is answered.
    public mutating func rebalancing(_ lane: Lane, _ rebalance: Rebalance) { rebalances[lane] = rebalance }

    /// The group was answered. What was given up is forgotten.
    public mutating func answered(_ lane: Lane) {
        switch rebalances[lane] {
        case .revoked(let partitions), .lost(let partitions): drop(Set(partitions), of: lane)
        case .assigned, nil: break
        }
        rebalances[lane] = nil
    }

    /// A batch came to its end, with all of its events.
    ///
    /// - Parameter seconds: how long that took.
    public mutating func processed(_ number: Int, _ settlements: [Settlement], seconds: Double) {
        processed(number, settlements.map(Progress.ended), seconds: seconds)
    }

    /// A batch came to its end, though some of its events may go on waiting in their places.
    ///
    /// - Parameter seconds: how long that took.
    public mutating func processed(_ number: Int, _ progress: [Progress], seconds: Double) {
        guard var batch = processing, batch.number == number else { return }
        guard progress.count == batch.records.count else {
            // An event without an end must not be passed over; all of them are taken to their ends again.
            return putBack(inWork)
        }
        processing = nil
        let records = batch.records
        batch.records = []
        for (record, progress) in zip(records, progress) {
            switch progress {
            case .ended(let settlement):
                batch.records.append(record)
                batch.settlements.append(settlement)
            case .waits(let until): parked.park(record, until: until)
            }
        }
        parked.workEnded()
        // What is superseded or waits for its vendor costs next to nothing, and the next batch may be all signatures.
        pace.learn(events: batch.settlements.count { $0.outcome == .minted }, seconds: seconds)
        if !batch.records.isEmpty { ended.append(batch) }
    }

    /// Answers came that events may wait for.
    public mutating func answersCame() { parked.answersCame() }

    /// What was to be added to the transaction under way was; nil where it was too late for that, and it stays ready.
    public mutating func added(_ addition: CommitUnit?) {
        if let addition { ended.join(addition) } else { ended.close() }
    }

    /// The transaction under way was committed at `end`.
    public mutating func committed(at end: UnixTime) {
        guard let transaction = ended.end() else { return }
        publishing.committed()
        rhythm.ended(at: end)
        for batch in transaction.batches {
            for record in batch.records { progress[record.lane].finished(record.origin) }
        }
        for lane in Lane.allCases { progress[lane].committed(transaction.offsets[lane]) }
    }

    /// The transaction under way was aborted: its events are taken to their ends again, in their old order, after a pause.
    ///
    /// - Parameter isBlocked: whether an output topic cannot be written, so that nothing more is begun until `unblocked`.
    public mutating func aborted(at now: UnixTime, isBlocked: Bool = false) {
        guard let transaction = ended.end() else { return }
        isBlocked ? publishing.blocked(at: now) : publishing.aborted(at: now)
        putBack(transaction.batches.flatMap(\.records) + inWork)
    }

    /// An output topic was looked at, and still cannot be written.
    public mutating func stillBlocked(at now: UnixTime) { if isBlocked { publishing.blocked(at: now) } }

    /// The topics can be written again.
    public mutating func unblocked() { if isBlocked { publishing.unblocked() } }

    /// Whether an output topic cannot be written: nothing is begun until it can.
    public var isBlocked: Bool { publishing.isBlocked }

    /// Whether partitions are to be given up, or the worker stops: a commit does not go on waiting then.
    public var isGivingUp: Bool { isStopping || isRebalancing }

    /// No new event is begun; what is ready is committed.
    public mutating func stop() { isStopping = true }

    // MARK: What comes next

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

    private var isRebalancing: Bool { Lane.allCases.contains { rebalances[$0] != nil } }

    private var hasRoom: Bool {
        ended.readyCount < settings.shares.batchEvents * Self.readiness
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
        let batch = settings.shares.batchEvents
        guard ended.readyCount >= batch, committing.eventCount + ended.readyCount <= batch * Self.growth else {
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
        let isFull = parked.count >= settings.shares.batchEvents * Self.parking
        return process(records, waiting: isFull ? .over : .allowed, at: now)
    }

    /// While a commit is under way that live events wait for, one batch in the background is enough: the slower the commits
    /// become, the less is done beside them. Of retries, which may cost next to nothing, so many that the next commit is
    /// not long for their number.
    private func isEnough(_ counts: PerLane<Int>, at now: UnixTime) -> Bool {
        guard ended.committing != nil, taken.isLiveAbout(at: now) else { return false }
        guard counts[.retries] > 0 else { return ended.ready.contains { $0.urgency == .background } }
        return ended.readyCount >= Self.enoughRetries
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

    // MARK: Giving back

    private var inWork: [InputRecord] { (ended.ready + (processing.map { [$0] } ?? [])).flatMap(\.records) }

    /// Puts events back that were in work, before those that were not, and forgets their ends.
    private mutating func putBack(_ given: [InputRecord]) {
        // Those that wait in their places would else come to their ends before what stands in front of them.
        let records = Self.inOrder(given + parked.takeAll())
        ended.dropReady()
        processing = nil
        owesRollBack = true
        taken.putBack(records)
    }

    /// Each partition's records in the order of their offsets: those that waited in their places came to their ends after
    /// others that stand behind them.
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
}

// MARK: What there is to see

extension SessionStateMachine {
    /// How many events of `lane` were taken and are not in work.
    public func queued(_ lane: Lane) -> Int { taken.count(lane) }

    /// Whether fresh events stand ready for the next batch.
    public var isMoreComing: Bool { taken.waiting(.live) + taken.waiting(.bulk) > 0 }

    /// How many events wait in their places for an answer.
    public var parkedCount: Int { parked.count }

    /// When the oldest event of `lane` that was taken and has not ended was produced.
    public func oldest(_ lane: Lane) -> UnixTime? { progress[lane].oldest }

    /// The next record of each partition of `lane` that has not ended.
    public func positions(_ lane: Lane) -> [TopicPartition: Int64] { progress[lane].positions }

    /// Whether nothing is taken, in work or on its way.
    public var isIdle: Bool {
        processing == nil && ended.isEmpty && parked.isEmpty
            && Lane.allCases.allSatisfy { $0 == .retries || taken.count($0) == 0 }
    }
}
