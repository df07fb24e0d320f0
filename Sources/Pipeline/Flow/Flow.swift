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
public struct Flow: Sendable {
    /// A partition of a topic.
    public typealias Partition = PartitionProgress.Partition

    private struct Arrived: Sendable {
        let record: InputRecord
        let at: UnixTime
    }

    /// In batches: how many fresh events are taken ahead, how many may be ready while a commit is under way, how many may
    /// wait in their places, and how many a transaction may grow to.
    ///
    /// One commit follows the other between two batches alone. So batches are small, and several of them make a transaction.
    private static let (ahead, readiness, parking, growth) = (2, 3, 4, 7)
    /// How many events are ready at most when another batch without live ones is begun beside a commit.
    private static let enoughRetries = 100

    private let settings: Settings
    private var progress = PerLane { _ in PartitionProgress() }
    private var fresh = PerLane { _ in Deque<Arrived>() }
    private var waiting: RetrySchedule
    private var rebalances = PerLane<Rebalance?> { _ in nil }
    private var processing: Batch?
    private var ready: [Batch] = []
    private var parked = ParkedEvents()
    /// Whether the last batch was of events that were parked, so that the others have their turn.
    private var wasParked = false
    private var committing: Transaction?
    /// Whether it may be added to.
    private var isOpen = false
    private var rhythm = CommitRhythm()
    /// When a live event was last taken.
    private var lastLive: UnixTime?
    private var owesRollBack = false
    private var isStopping = false
    private var pace = Pace()
    private var nextNumber = 1
    /// Whether an output topic cannot be written: nothing is begun until it can.
    public private(set) var isBlocked = false

    /// Nothing taken yet.
    public init(_ settings: Settings) {
        self.settings = settings
        waiting = RetrySchedule(settings.retries)
    }

    // MARK: What happened

    /// How many records of `lane` may be taken now.
    public func demand(_ lane: Lane) -> Int {
        if isStopping { return 0 }
        let limit = settings.shares.batchEvents * Self.ahead
        return lane == .retries ? limit : max(0, limit - fresh[lane].count)
    }

    /// Records of `lane` were taken, each partition's in the order of their offsets.
    public mutating func received(_ records: [InputRecord], on lane: Lane, at now: UnixTime) {
        if lane == .live, !records.isEmpty { lastLive = now }
        for record in records {
            progress[lane].taken(record.origin, producedAt: record.timestamp)
            if lane == .retries {
                waiting.append(record, at: now)
            } else {
                fresh[lane].append(Arrived(record: record, at: now))
            }
        }
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
        if !batch.records.isEmpty { ready.append(batch) }
    }

    /// Answers came that events may wait for.
    public mutating func answersCame() { parked.answersCame() }

    /// What was to be added to the transaction under way was.
    ///
    /// - Parameter isPart: false where it was too late for that; it stays ready then.
    public mutating func added(_ isPart: Bool) {
        isOpen = isPart
        guard isPart else { return }
        let addition = makeTransaction()
        committing?.add(addition)
        ready = []
    }

    /// The transaction under way was committed.
    public mutating func committed(at now: UnixTime) {
        guard let transaction = committing else { return }
        committing = nil
        rhythm.ended(at: now)
        for batch in transaction.batches {
            for record in batch.records { progress[record.lane].finished(record.origin) }
        }
        for lane in Lane.allCases { progress[lane].committed(transaction.offsets[lane]) }
    }

    /// The transaction under way was aborted: its events are taken to their ends again, in their old order.
    ///
    /// - Parameter isBlocked: whether an output topic cannot be written, so that nothing more is begun until `unblocked`.
    public mutating func aborted(isBlocked: Bool = false) {
        guard let transaction = committing else { return }
        committing = nil
        self.isBlocked = isBlocked
        putBack(transaction.batches.flatMap(\.records) + inWork)
    }

    /// The topics can be written again.
    public mutating func unblocked() { isBlocked = false }

    /// No new event is begun; what is ready is committed.
    public mutating func stop() { isStopping = true }

    // MARK: What comes next

    /// The next step, which is to be done before the next question.
    public mutating func next(at now: UnixTime) -> Step {
        if owesRollBack {
            owesRollBack = false
            return .rollBack
        }
        if processing == nil, committing == nil, let step = rebalanceStep(at: now) { return step }
        let held = heldBack(at: now)
        if committing == nil, !ready.isEmpty, !isBlocked, !isLosing, held == nil, let step = commitStep(at: now) {
            return step
        }
        if let step = additionStep(at: now) { return step }
        if let step = parkedStep(at: now) { return step }
        if isStopping, processing == nil, committing == nil { return .stop }
        guard processing == nil, !isStopping, !isBlocked, !isRebalancing, hasRoom else { return .wait(until: held) }
        let step = nextBatch(at: now)
        guard case .wait(let moment) = step else { return step }
        return .wait(until: [moment, held, parked.soonest].compactMap { $0 }.min())
    }

    // MARK: Waiting in place

    /// What is ready is committed, once those that wait in front of it have ended, in the retry tiers if need be.
    private mutating func commitStep(at now: UnixTime) -> Step? {
        if processing != nil { return mayStandInFront ? nil : begin(at: now) }
        let inTheWay = parked.takeInTheWay(of: ready, settings.shares.filling(pace: pace.secondsPerEvent))
        return inTheWay.isEmpty ? begin(at: now) : process(inTheWay, waiting: .over, at: now)
    }

    /// Whether an event that waits, or is looked at again, may stand in front of what is ready.
    private var mayStandInFront: Bool { !parked.isEmpty || processing.map { $0.waiting != .allowed } ?? false }

    /// Events whose wait is over end; those that may have been answered are looked at again, taking turns with the others.
    private mutating func parkedStep(at now: UnixTime) -> Step? {
        guard processing == nil, !parked.isEmpty, !isBlocked, !isLosing, !isStopping else { return nil }
        guard !wasParked || fresh[.live].isEmpty else { return nil }
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

    private mutating func process(_ records: [InputRecord], waiting: Waiting, at now: UnixTime) -> Step {
        let isBulk = records.allSatisfy { $0.lane == .bulk }
        let urgency: SigningUrgency = isBulk && isLiveAbout(at: now) ? .background : .live
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
        guard committing == nil, !ready.isEmpty, !isStopping else { return nil }
        let isLive = ready.contains { $0.records.contains { $0.lane == .live } }
        return rhythm.rest(settings, isAwaited: isLive || !hasRoom, at: now)
    }

    /// What is ready is committed before partitions are given up; of partitions that are lost nothing may be.
    private mutating func rebalanceStep(at now: UnixTime) -> Step? {
        if isLosing, !ready.isEmpty {
            putBack(inWork)
            owesRollBack = false
            return .rollBack
        }
        for lane in Lane.allCases {
            switch rebalances[lane] {
            case nil: continue
            // A blockage has put everything back, so that nothing is ready then.
            case .revoked where !ready.isEmpty: return commitStep(at: now)
            case .assigned, .revoked, .lost: return .answer(lane)
            }
        }
        return nil
    }

    /// Whether partitions of any lane are lost: what is ready may hold events of theirs.
    private var isLosing: Bool {
        Lane.allCases.contains { if case .lost = rebalances[$0] { true } else { false } }
    }

    private var isRebalancing: Bool { Lane.allCases.contains { rebalances[$0] != nil } }

    private var hasRoom: Bool {
        readyCount < settings.shares.batchEvents * Self.readiness
    }

    private var readyCount: Int { ready.reduce(0) { $0 + $1.records.count } }

    private mutating func begin(at now: UnixTime) -> Step {
        rhythm.began(at: now)
        let transaction = makeTransaction()
        ready = []
        committing = transaction
        isOpen = true
        return .commit(transaction)
    }

    /// In a backlog, what came to its end since a transaction began becomes part of it while its records are on their way:
    /// more events share what each transaction costs. Live events do not wait for others than theirs.
    private func additionStep(at now: UnixTime) -> Step? {
        guard let committing, isOpen, !isStopping, !isRebalancing, !mayStandInFront else { return nil }
        let batch = settings.shares.batchEvents
        guard readyCount >= batch, committing.eventCount + readyCount <= batch * Self.growth else { return nil }
        let isLive = ready.allSatisfy { $0.records.contains { $0.lane == .live } }
        return isLive || !isLiveAbout(at: now) ? .add(makeTransaction()) : nil
    }

    /// What is ready, with the offsets that hold once it is committed behind everything before it.
    private func makeTransaction() -> Transaction {
        var ended = progress
        for batch in (committing?.batches ?? []) + ready {
            for record in batch.records { ended[record.lane].finished(record.origin) }
        }
        return Transaction(batches: ready, offsets: PerLane { ended[$0].committable })
    }

    private mutating func nextBatch(at now: UnixTime) -> Step {
        let limit = settings.shares.batchEvents
        let waitingCounts = PerLane { lane in
            lane == .retries ? waiting.dueCount(at: now, limit: limit) : fresh[lane].count
        }
        if let moment = lingering(waitingCounts, now) {
            return .wait(until: min(moment, waiting.nextDue ?? moment))
        }
        let counts = settings.shares.next(
            of: waitingCounts, pace: pace.secondsPerEvent, isLiveAbout: isLiveAbout(at: now))
        if counts[.live] == 0, isEnough(counts, at: now) {
            return .wait(until: counts[.retries] == 0 ? waiting.nextDue : nil)
        }
        var records: [InputRecord] = []
        for lane in Lane.allCases {
            if lane == .retries {
                records += waiting.take(counts[lane], at: now)
            } else {
                records += fresh[lane].prefix(counts[lane]).map(\.record)
                fresh[lane].removeFirst(counts[lane])
            }
        }
        guard !records.isEmpty else { return .wait(until: waiting.nextDue) }
        wasParked = false
        let isFull = parked.count >= settings.shares.batchEvents * Self.parking
        return process(records, waiting: isFull ? .over : .allowed, at: now)
    }

    /// Whether a live event was taken within the last second, so that another may come any moment.
    private func isLiveAbout(at now: UnixTime) -> Bool {
        guard let lastLive, lastLive <= now else { return false }
        return now.microseconds(since: lastLive) < 1_000_000
    }

    /// While a commit is under way that live events wait for, one batch in the background is enough: the slower the commits
    /// become, the less is done beside them. Of retries, which may cost next to nothing, so many that the next commit is
    /// not long for their number.
    private func isEnough(_ counts: PerLane<Int>, at now: UnixTime) -> Bool {
        guard committing != nil, isLiveAbout(at: now) else { return false }
        guard counts[.retries] > 0 else { return ready.contains { $0.urgency == .background } }
        return readyCount >= Self.enoughRetries
    }

    /// Until when to wait for more; nil where it is time. While a commit is under way nothing is won by waiting.
    private func lingering(_ counts: PerLane<Int>, _ now: UnixTime) -> UnixTime? {
        let count = Lane.allCases.reduce(0) { $0 + counts[$1] }
        guard count > 0, count < settings.shares.batchEvents, committing == nil, counts[.retries] == 0 else {
            return nil
        }
        let first = [fresh[.live].first?.at, fresh[.bulk].first?.at].compactMap { $0 }.min() ?? now
        let end = first.advanced(byMicroseconds: rhythm.linger(atMost: settings.linger))
        // A clock that was set back must not hold anything up.
        return now < end && first <= now ? end : nil
    }

    // MARK: Giving back

    private var inWork: [InputRecord] { (ready + (processing.map { [$0] } ?? [])).flatMap(\.records) }

    /// Puts events back that were in work, before those that were not, and forgets their ends.
    private mutating func putBack(_ given: [InputRecord]) {
        // Those that wait in their places would else come to their ends before what stands in front of them.
        let records = Self.inOrder(given + parked.takeAll())
        ready = []
        processing = nil
        owesRollBack = true
        for record in records.reversed() where record.lane != .retries {
            fresh[record.lane].prepend(Arrived(record: record, at: UnixTime(microseconds: .min)))
        }
        waiting.putBack(records.filter { $0.lane == .retries })
    }

    /// Each partition's records in the order of their offsets: those that waited in their places came to their ends after
    /// others that stand behind them.
    private static func inOrder(_ records: [InputRecord]) -> [InputRecord] {
        var sorted = Dictionary(grouping: records) { Partition($0.origin) }
            .mapValues { Deque($0.sorted { $0.origin.offset < $1.origin.offset }) }
        return records.compactMap { sorted[Partition($0.origin)]?.popFirst() }
    }

    private mutating func drop(_ partitions: Set<Partition>, of lane: Lane) {
        progress[lane].dropped(partitions)
        fresh[lane].removeAll { partitions.contains(Partition($0.record.origin)) }
        parked.drop(partitions, of: lane)
        if lane == .retries { waiting.drop(partitions) }
    }
}

// MARK: What there is to see

extension Flow {
    /// How many events of `lane` were taken and are not in work.
    public func queued(_ lane: Lane) -> Int { lane == .retries ? waiting.count : fresh[lane].count }

    /// How many events wait in their places for an answer.
    public var parkedCount: Int { parked.count }

    /// When the oldest event of `lane` that was taken and has not ended was produced.
    public func oldest(_ lane: Lane) -> UnixTime? { progress[lane].oldest }

    /// The next record of each partition of `lane` that has not ended.
    public func positions(_ lane: Lane) -> [Partition: Int64] { progress[lane].positions }

    /// Whether nothing is taken, in work or on its way.
    public var isIdle: Bool {
        processing == nil && ready.isEmpty && parked.isEmpty && committing == nil
            && Lane.allCases.allSatisfy { $0 == .retries || fresh[$0].isEmpty }
    }

    /// The partitions of the retry lane of which nothing more is fetched until some of them ended.
    public mutating func throttledRetries() -> Set<Partition> { waiting.throttled() }
}
