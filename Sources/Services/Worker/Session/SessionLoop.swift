import AdapterKit
import Kafka
import Pipeline
import ServiceLifecycle
import Wiring
import WorkerConfiguration

/// Performs the actions of the session's state machine: consumes events, processes batches, commits in the background,
/// answers the groups. It passes everything that happened to the machine and decides nothing itself. The observer
/// writes everything that people see of it.
struct SessionLoop {
    let lanes: LaneConsumers
    let committer: any Committer
    let context: SessionContext
    /// The worker's transactional id.
    let instance: String
    /// The control topic: the suspensions and pauses of the whole fleet.
    let control: ControlTopic
    /// The permission of commits to wait for a topic that cannot be written.
    let commitWindow: CommitWindow
    let properties: KafkaProperties
    /// The logs of the partitions, as the brokers have them.
    let logs: PartitionLogs
    /// The highest version on the token topic, which others may have written.
    let versions: @Sendable () async -> Int64?
    /// Returns the offset behind a record batch that cannot be unpacked.
    let batchEnd: @Sendable (RecordPosition) async throws(KafkaError) -> Int64
    var processor: BatchProcessor
    var committed: CommittedOffsets
    /// The operators' pauses of lanes.
    var lanePauses: LanePauses
    var machine: SessionStateMachine
    var watch = PartitionWatch()
    /// The first records of the assigned partitions' logs.
    var marks = LogMarks()
    /// The records that wait in the assigned partitions.
    var lag = AssignedLag()
    let logViews = Handoff<LogViews>()
    /// The record batches at which partitions stand still.
    var batches = PerLane { _ in UnreadableBatches() }
    /// The ends of such batches that were found, and the offsets to continue at.
    let batchEnds = PerLane { _ in Handoff<[BatchEnd]>() }
    var seeks = PerLane { _ in [PartitionOffset]() }
    /// The findings about assigned partitions, on their way from the background and collected.
    let findings = PerLane { _ in Handoff<(rebalance: Int, StartLookup.Finding)>() }
    /// The number of rebalances so far.
    var rebalances = PerLane { _ in 0 }
    var found = PerLane<StartLookup.Finding?> { _ in nil }
    /// The work beside the loop.
    let background = BackgroundWork()
    var isLookingAtLogs = false
    /// The number of assignments so far.
    var assignments = 0
    var nextLogLook = ContinuousClock.now + Self.logInterval
    var lastLogLook: UnixTime?
    /// Whether the session ends because a log is not the one that was read.
    var isReopening = false
    /// The topics that could not be written, for as long as they cannot.
    var blockage: Blockage?
    var aborts = EqualAborts()
    var publishing = PublishingProof()
    var nextReport = ContinuousClock.now
    /// The time by which the session must end, once new clients are requested; nil before that.
    private(set) var renewal: ContinuousClock.Instant?
    let restingLag = RestingLag()
    /// Called once the session has its first live partitions; nil after that.
    var begin: (@Sendable () -> Void)?
    /// The moments of other clocks since the last report.
    var clockSample = ClockWatch.Sample()
    /// The steps of this machine's clock: versions are times, so they are read back again after one.
    var steps: ClockSteps
    let start = ContinuousClock.now
    /// The batches added to the unit that is being committed.
    var additions = Additions()
    let commits = Handoff<(result: CommitResult, at: UnixTime, took: Duration)>()
    let checks = Handoff<BlockageCheck>()
    /// The time that a broker needs to write a transaction's markers, with a margin.
    static let rest = Duration.milliseconds(8)

    init(
        lanes: LaneConsumers, committer: any Committer, context: SessionContext, instance: String,
        control: ControlTopic, commitWindow: CommitWindow, properties: KafkaProperties, logs: PartitionLogs,
        versions: @escaping @Sendable () async -> Int64?,
        batchEnd: @escaping @Sendable (RecordPosition) async throws(KafkaError) -> Int64, processor: BatchProcessor,
        committed: CommittedOffsets, lanePauses: LanePauses
    ) {
        self.batchEnd = batchEnd
        self.instance = instance
        self.properties = properties
        self.logs = logs
        self.versions = versions
        self.lanes = lanes
        self.committer = committer
        self.context = context
        self.control = control
        self.commitWindow = commitWindow
        self.processor = processor
        self.committed = committed
        self.lanePauses = lanePauses
        steps = ClockSteps(at: context.now(), elapsed: .zero)
        machine = SessionStateMachine(Self.settings(context.running, limit: context.quota.limit))
        machine.pausedLanes = lanePauses.lanes
    }

    var observer: SessionObserver { context.observer }

    /// Whether the worker stops and nothing is left to commit, so that the groups can be left at once.
    var isDone: Bool {
        Task.isShuttingDownGracefully && machine.isGivingUp && machine.isSettled && !machine.hasOpenOffsets
    }

    /// Runs until the worker is to stop or the clients are of no further use.
    mutating func run() async -> SessionEnd {
        takeHistory()
        while !Task.isCancelled {
            observer.beat("it consumes records")
            takeOrders()
            await takeReload()
            takeAnswers()
            var hasMore = false
            do throws(KafkaError) { hasMore = try await take() } catch { return SessionEnd(failed: error) }
            if let end = collect() { return renewedInstead(of: end) }
            takeFindings()
            await passBatches()
            await report()
            await watchLogs()
            commitWindow.isOver = machine.isGivingUp
            // Asked where it matters alone: the answer may have to wait for a commit of offsets.
            machine.hasOpenOffsets = machine.isGivingUp ? await committer.hasOpenOffsets : false
            if let end = await perform(machine.next(at: context.now()), hasMore: hasMore) { return end }
            if let fault = machine.fault { return .broken(fault) }
            // Brokers that take the old certificate no more answer no commit either.
            if let renewal, .now > renewal { return renewed }
        }
        return .stopped
    }

    /// Performs an action of the state machine.
    ///
    /// - Returns: The reason why the session is over; nil if it continues.
    private mutating func perform(
        _ action: SessionStateMachine.Action, hasMore: Bool
    ) async -> SessionEnd? {
        switch action {
        case .process(let batch):
            observer.beat("it processes a batch")
            do throws(KafkaError) { try await process(batch) } catch { return SessionEnd(failed: error) }
        case .commit(let unit): commit(unit)
        case .add(let addition): add(addition)
        case .rollBack: rollBack()
        case .check: check()
        case .answer(let lane, let rebalance):
            observer.beat("it answers the group of the \(lane.rawValue) lane")
            do throws(KafkaError) { try await answer(lane, rebalance) } catch {
                return renewal != nil || context.requests.isRenewalWanted ? renewed : SessionEnd(failed: error)
            }
        case .wait(let moment): if !hasMore { await wait(until: moment) }
        case .stop:
            if renewal == nil || Task.isShuttingDownGracefully { return .stopped }
            return renewed
        }
        return nil
    }

    /// Forgets what was not published. At least once, a part of an aborted unit is.
    mutating func rollBack() { processor.rollBack(isPublished: context.configuration.delivery == .atLeastOnce) }

    /// The end of a session that new clients follow.
    private var renewed: SessionEnd { isReopening ? .reopened : .renewed }

    /// Returns the end of a session whose clients failed with `end`. If they were about to be replaced, they still are:
    /// brokers fence a transaction that stayed open for too long, and the next clients end it by registering the
    /// transactional id.
    private func renewedInstead(of end: SessionEnd) -> SessionEnd {
        guard renewal != nil, !isReopening else { return end }
        switch end {
        case .unusable(let error), .fenced(let error):
            observer.lastCommitFailed(error)
            return .renewed
        case .stopped, .renewed, .reopened, .broken: return end
        }
    }

    /// Brings the session to an end, for new clients to follow.
    mutating func beginRenewal() {
        machine.stop()
        // Whatever calls for new clients meanwhile, those of now have no more time than the first reason gave them.
        renewal = renewal ?? .now + context.configuration.worker.shutdownDeadline
    }

    // MARK: Orders

    private mutating func takeOrders() {
        if Task.isShuttingDownGracefully {
            machine.stop()
            observer.stopping()
        } else if context.requests.takeRenewal() {
            beginRenewal()
            observer.renewing()
        } else if renewal == nil, context.requests.isQuiet != machine.isQuiet {
            machine.isQuiet.toggle()
            observer.changed(isQuiet: machine.isQuiet, isBegun: begin == nil)
        }
        takeWords()
    }

    // MARK: Look-ups

    /// Collects the vendors' answers, and sends the requests that are allowed by now.
    private mutating func takeAnswers() {
        guard let lookups = context.lookups else { return }
        let replies = lookups.takeReplies()
        if !replies.isEmpty {
            if case .success(let answer)? = replies.last?.result, let date = answer.date { clockSample.answer = date }
            processor.received(replies)
            machine.answersCame()
        }
        if !replies.isEmpty || processor.nextLookup.map({ $0 <= context.now() }) ?? false { askVendors() }
    }

    mutating func askVendors() {
        guard let lookups = context.lookups else { return }
        let calls = processor.lookups(isMoreComing: machine.isMoreComing)
        if !calls.isEmpty { lookups.ask(calls) }
    }

    // MARK: Work

    private mutating func process(_ batch: Batch) async throws(KafkaError) {
        let start = ContinuousClock.now
        let demand = PerLane { machine.demandBeside($0) }
        async let live = lanes.take(demand[.live], of: .live)
        async let bulk = lanes.take(demand[.bulk], of: .bulk)
        let processed = await processor.process(batch)
        let seconds = (.now - start) / .seconds(1)
        machine.processed(processed, seconds: seconds)
        observer.processed(processed, seconds: seconds)
        raiseAlarms()
        askVendors()
        try handle(await live, .live)
        try handle(await bulk, .bulk)
    }

    private func wait(until moment: UnixTime?) async {
        // Orders come as signals, which wake nobody, and heartbeats are due: both are looked for often enough.
        var wait = Duration.milliseconds(100)
        if let moment = [moment, processor.nextLookup].compactMap({ $0 }).min() {
            wait = min(wait, .microseconds(max(1000, moment.microseconds(since: context.now()))))
        }
        await lanes.wakeup.wait(atMost: wait)
    }
}
