import AdapterKit

@testable import Pipeline

/// A walk through everything that can happen to a `SessionStateMachine`, in any order that its shell and a broker can bring about.
///
/// It replaces the shell: it carries out what the machine names, and checks each step by what it knows itself.
struct SessionWalk {

    /// The events that a walk counts: a walk that met none of a kind proves nothing about it.
    enum Event: CaseIterable {
        case committed, added, addedLate, aborted, abortedInProcess, blocked, crashed, committedBeforeCrash, revoked,
            lost, lostInCommit,
            assigned, late, stopped, retried, parked, resumed, expired, inTheWay, droppedWhileParked, quiet, checked,
            rested
    }

    let settings: SessionStateMachine.Settings
    let linger: Int64
    var random: SeededGenerator
    var broker = InMemoryBroker()
    var machine: SessionStateMachine
    var now = TestBench.now
    /// Of our partitions, how many records were fetched and how many were begun, counted from the log's first.
    var fetched: [TopicPartition: Int] = [:]
    var begun: [TopicPartition: Int] = [:]
    /// The group's open requests, and the partitions of each.
    var asked: [Lane: (rebalance: SessionStateMachine.Rebalance, partitions: [TopicPartition])] = [:]
    /// Batches whose tokens are remembered and not confirmed: ready, in work or in a commit.
    var remembered: [Int: Batch] = [:]
    var processing: Batch?
    var committing: (unit: CommitUnit, isVisible: Bool)?
    /// Whether the commit under way may be added to.
    var isOpen = false
    /// The start of the last commit.
    var lastBegin: UnixTime?
    var lastEnd: UnixTime?
    /// Events that wait in their places, and until when; and those of them that are looked at again.
    var parked: [RecordPosition: UnixTime] = [:]
    var resumed: [RecordPosition: UnixTime] = [:]
    /// Batches that were given up while in work.
    var late: [Batch] = []
    var owesRollBack = false
    var isStopping = false
    var isBlocked = false
    /// Whether the topics can be written.
    var isFixed = true
    /// The time at which the last unit was aborted.
    var lastAbort: UnixTime?
    /// Whether offsets are still to be committed, so that no partition is given up.
    var hasOpenOffsets = false
    var lastNumber = 0
    var met: [Event: Int] = [:]

    static let delays: [Int64] = [10, 40]

    init(seed: Int) {
        random = SeededGenerator(seed: UInt64(seed))
        linger = [0, 3000, 20_000][seed % 3]
        settings = SessionStateMachine.Settings(
            shares: LaneShares(batchEvents: 1 + seed % 7, bulkShare: [0.1, 0, 0.5][seed / 3 % 3]),
            linger: .microseconds(linger), rest: .milliseconds([0, 8][seed / 9 % 2]),
            retries: RetryPolicy(
                tiers: Self.delays.map { .init(name: "\($0)ms", delay: .milliseconds($0)) }, maxAttempts: 8,
                deadline: .seconds(1000)),
            backoff: Backoff(from: .milliseconds(2), atMost: .milliseconds(16)))
        machine = SessionStateMachine(settings)
    }

    mutating func note(_ event: Event) { met[event, default: 0] += 1 }

    // MARK: What happens

    /// One thing at random.
    mutating func step() throws(WalkFailure) {
        now = now.advanced(byMicroseconds: .random(in: 0...1500, using: &random))
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<180: produce()
        case 180..<360: fetch(anyLane())
        case 360..<700: try carryOut()
        case 700..<780: finishProcessing()
        case 780..<870: try finishCommit()
        case 870..<920: try rebalance(anyLane())
        case 920..<960: try answerElsewhere()
        case 960..<970: unblock()
        case 970..<980: machine.answersCame()
        case 980..<985: late.isEmpty ? () : finishLate()
        case 985..<988: stop()
        case 992..<994: quiet()
        case 994..<997: openOffsets()
        case 988..<992: try crash()
        case 997..<999: rest()
        default: now = now.advanced(byMicroseconds: .random(in: 0...40_000, using: &random))
        }
    }

    /// Everything that was produced gets an outcome once nothing goes wrong any more.
    mutating func drain() throws(WalkFailure) {
        unblock()
        machine.isQuiet = false
        machine.pausedLanes = []
        (hasOpenOffsets, machine.hasOpenOffsets) = (false, false)
        for _ in 0..<100_000 {
            now = now.advanced(byMicroseconds: 1000)
            for lane in Lane.allCases where asked[lane] == nil {
                for owner in [InMemoryBroker.Owner.another, .nobody] where asked[lane] == nil {
                    let partitions = broker.partitions(of: lane, owner)
                    if !partitions.isEmpty { ask(lane, .assigned([]), partitions) }
                }
                fetch(lane)
            }
            try carryOut()
            finishProcessing()
            if committing != nil { try succeed() }
            if broker.isDrained, machine.isIdle, asked.isEmpty, !isStopping { return }
        }
        throw WalkFailure("it never finishes")
    }

    private mutating func anyLane() -> Lane { Lane.allCases[Int.random(in: 0..<3, using: &random)] }

    private mutating func produce() {
        let targets = broker.partitions.filter { broker.log($0).lane != .retries }
        let partition = targets[Int.random(in: 0..<targets.count, using: &random)]
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            broker.produce(partition, gap: Int.random(in: 0..<5, using: &random) == 0 ? 2 : 0, at: now)
        }
    }

    private mutating func fetch(_ lane: Lane) {
        switch machine.intake(lane) {
        case .records(let demand, let paused): receive(lane, atMost: demand, except: paused)
        case .nothing, .news: break
        }
    }

    /// Consumes records of our partitions, each partition's in order.
    private mutating func receive(_ lane: Lane, atMost demand: Int, except throttled: Set<TopicPartition> = []) {
        var left = demand
        var records: [InputRecord] = []
        for partition in broker.partitions(of: lane, .us) where left > 0 && !throttled.contains(partition) {
            let log = broker.log(partition), start = fetched[partition] ?? log.ended
            let end = min(log.records.count, start + .random(in: 0...left, using: &random))
            records += log.records[start..<end]
            fetched[partition] = end
            left -= end - start
        }
        machine.received(records, on: lane, at: now)
    }

    private mutating func finishProcessing() {
        guard let batch = processing else { return }
        processing = nil
        let processed = batch.processed(settle(batch))
        for record in processed.records { resumed[record.origin] = nil }
        for (record, until) in processed.parked {
            parked[record.origin] = resumed.removeValue(forKey: record.origin) ?? until
            note(.parked)
        }
        remembered[batch.number] = processed.records.isEmpty ? nil : processed
        machine.processed(processed, seconds: .random(in: 0...0.01, using: &random))
    }

    /// The result of a batch that the machine gave up meanwhile.
    private mutating func finishLate() {
        let batch = late.removeFirst()
        machine.processed(batch.processed(settle(batch)), seconds: 0.001)
        note(.late)
    }

    private mutating func answerElsewhere() throws(WalkFailure) {
        let partitions = broker.partitions.filter { broker.log($0).owner == .another }
        guard let partition = partitions.randomElement(using: &random) else { return }
        try broker.answerElsewhere(partition, .random(in: 1...4, using: &random))
    }

    /// The topic that could not be written can be, which shows when it is looked at.
    mutating func unblock() { isFixed = true }

    /// An operator pauses the intake, or resumes it.
    private mutating func quiet() {
        machine.isQuiet.toggle()
        note(.quiet)
    }

    /// An operator chooses which lanes rest.
    private mutating func rest() {
        machine.pausedLanes = Set(Lane.allCases.filter { _ in Bool.random(using: &random) })
        note(.rested)
    }

    /// Offsets are left open, or committed.
    private mutating func openOffsets() {
        hasOpenOffsets.toggle()
        machine.hasOpenOffsets = hasOpenOffsets
    }

    private mutating func stop() {
        isStopping = true
        machine.stop()
    }

    /// The process dies, and another one starts from what the broker knows.
    private mutating func crash() throws(WalkFailure) {
        if let (unit, isVisible) = committing, !isVisible, broker.accepts(unit),
            Bool.random(using: &random)
        {
            try broker.commit(unit, at: now)
            note(.committedBeforeCrash)
        }
        note(.crashed)
        restart()
    }

    /// A new machine, which owns nothing yet.
    mutating func restart() {
        machine = SessionStateMachine(settings)
        for lane in Lane.allCases {
            for partition in broker.partitions(of: lane, .us) { broker.give(partition, to: .nobody) }
        }
        (fetched, begun, asked, remembered, late) = ([:], [:], [:], [:], [])
        (parked, resumed) = ([:], [:])
        (processing, committing, owesRollBack, isStopping, isBlocked) = (nil, nil, false, false, false)
        (lastBegin, lastEnd, lastAbort) = (nil, nil, nil)
        (isFixed, hasOpenOffsets) = (true, false)
        lastNumber = 0
    }

    // MARK: The group

    private mutating func rebalance(_ lane: Lane) throws(WalkFailure) {
        guard asked[lane] == nil else { return }
        let ours = broker.partitions(of: lane, .us)
        let some = ours.filter { _ in Bool.random(using: &random) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3:
            let others = broker.partitions(of: lane, .nobody) + broker.partitions(of: lane, .another)
            ask(lane, .assigned([]), others)
            note(.assigned)
        case 3..<6:
            guard !some.isEmpty else { return }
            ask(lane, .revoked(some), some)
            note(.revoked)
            // What came in with the request is taken all the same.
            if !isStopping, !isBlocked, !machine.isQuiet, !machine.pausedLanes.contains(lane),
                Bool.random(using: &random)
            {
                receive(lane, atMost: machine.demand(lane))
            }
        default:
            guard !some.isEmpty else { return }
            try lose(lane, some)
        }
    }

    mutating func ask(_ lane: Lane, _ rebalance: SessionStateMachine.Rebalance, _ partitions: [TopicPartition]) {
        asked[lane] = (rebalance, partitions)
        machine.rebalancing(lane, rebalance)
    }

    private mutating func lose(_ lane: Lane, _ partitions: [TopicPartition]) throws(WalkFailure) {
        if let (unit, isVisible) = committing, !isVisible, Bool.random(using: &random) {
            // The commit was faster; the news of it is not.
            if broker.accepts(unit) {
                try broker.commit(unit, at: now)
                committing = (unit, true)
            }
        }
        if committing != nil { note(.lostInCommit) }
        for partition in partitions { broker.give(partition, to: .another) }
        ask(lane, .lost(partitions), partitions)
        note(.lost)
    }
}
