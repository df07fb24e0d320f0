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
    var settings: Settings
    var progress = PerLane { _ in PartitionProgress() }
    var taken: TakenEvents
    var rebalances = PerLane<Rebalance?> { _ in nil }
    var processing: Batch?
    var ended = EndedBatches()
    var parked = ParkedEvents()
    /// Whether the last batch was of events that were parked, so that the others have their turn.
    var wasParked = false
    var rhythm = CommitRhythm()
    var publishing: Publishing
    var owesRollBack = false
    var isStopping = false
    var pace = Pace()
    var nextNumber = 1
    /// The error in the program that ended the session's course; nil if there is none. The session must end.
    public private(set) var fault: String?
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
        let limit = settings.limits.ahead
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
        guard var batch = processing, batch.number == number else {
            // The late end of a batch that was given up is nobody's. A number that no batch has is an error in the program.
            if number >= nextNumber { fail("batch \(number) was processed, and the last batch is \(nextNumber - 1)") }
            return
        }
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

    /// Records an error in the program. The session would stand still for good, or publish twice; its events are consumed
    /// again after a restart.
    private mutating func fail(_ fault: String) {
        assertionFailure(fault)
        self.fault = fault
    }

    /// Answers came that events may wait for.
    public mutating func answersCame() { parked.answersCame() }

    /// What was to be added to the transaction under way was; nil where it was too late for that, and it stays ready.
    public mutating func added(_ addition: CommitUnit?) {
        guard let addition else { return ended.close() }
        // What is published and still ready would be published once more.
        if !ended.join(addition) { fail("\(addition.eventCount) events were added to no commit") }
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

    // MARK: Giving back

    var inWork: [InputRecord] { (ended.ready + (processing.map { [$0] } ?? [])).flatMap(\.records) }

    /// Puts events back that were in work, before those that were not, and forgets their ends.
    mutating func putBack(_ given: [InputRecord]) {
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
