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
    let instance: String
    /// The control topic: the suspensions and pauses of the whole fleet.
    let control: ControlTopic
    let commitWindow: CommitWindow
    let properties: KafkaProperties
    let logs: PartitionLogs
    /// The highest version on the token topic, which others may have written.
    let versions: @Sendable () async -> Int64?
    /// Returns the offset behind a record batch that cannot be unpacked.
    let batchEnd: @Sendable (RecordPosition) async throws(KafkaError) -> Int64
    var processor: BatchProcessor
    var committed: CommittedOffsets
    var lanePauses: LanePauses
    var machine: SessionStateMachine
    var watch = PartitionWatch()
    var marks = LogMarks()
    var lag = AssignedLag()
    let logViews = Handoff<LogViews>()
    /// The record batches at which partitions stand still.
    var batches = PerLane { _ in UnreadableBatches() }
    /// The ends of such batches that were found, and the offsets to continue at.
    let batchEnds = PerLane { _ in Handoff<[BatchEnd]>() }
    var seeks = PerLane { _ in [PartitionOffset]() }
    /// The findings about assigned partitions, on their way from the background and collected.
    let findings = PerLane { _ in Handoff<(rebalance: Int, StartLookup.Finding)>() }
    var rebalances = PerLane { _ in 0 }
    var found = PerLane<StartLookup.Finding?> { _ in nil }
    let background = BackgroundWork()
    var isLookingAtLogs = false
    var assignments = 0
    var nextLogLook = ContinuousClock.now + Self.logInterval
    var lastLogLook: UnixTime?
    /// Whether the session ends because a log is not the one that was read.
    var isReopening = false
    /// The topics that could not be written, for as long as they cannot.
    var blockage: Blockage?
    var aborts = EqualAborts()
    var publishing = PublishingProof()
    private var nextReport = ContinuousClock.now
    /// The time by which the session must end, once new clients are requested; nil before that.
    private(set) var renewal: ContinuousClock.Instant?
    private let restingLag = RestingLag()
    /// Called once the session has its first live partitions; nil after that.
    var begin: (@Sendable () -> Void)?
    var clockSample = ClockWatch.Sample()
    /// The steps of this machine's clock: versions are times, so they are read back again after one.
    var steps: ClockSteps
    let start = ContinuousClock.now
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

    private mutating func askVendors() {
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

    // MARK: Commits

    /// Returns `unit` with the marks of the logs and its highest version, which the partitions' next worker must exceed.
    private func stamped(_ unit: CommitUnit) -> CommitUnit {
        var unit = unit
        unit.highestVersion = processor.highestVersion(throughBatch: unit.lastBatch)
        unit.marks = marks.all
        return unit
    }

    mutating func add(_ addition: CommitUnit) {
        let isInTime = additions.offer(stamped(addition))
        if isInTime { publishing.added(addition) }
        machine.added(isInTime ? addition : nil)
    }

    mutating func commit(_ unit: CommitUnit) {
        additions = Additions()
        publishing.began(unit)
        background.addTask {
            [unit = stamped(unit), committer, additions, commits, context, wakeup = lanes.wakeup] in
            let (start, began) = (ContinuousClock.now, context.now())
            let result = await committer.commit(unit, additions)
            let (took, end) = (.now - start, context.now())
            context.observer.commitEnded(unit, result, from: began, to: end, in: took)
            // With the moment of its end, for the loop takes note of it later.
            commits.put((result, end, took))
            wakeup.signal()
            await committer.commitOffsets()
            wakeup.signal()
        }
    }

    private mutating func collect() -> SessionEnd? {
        if let commit = commits.take() {
            fit(commit.result, took: commit.took)
            if let end = ended(commit.result, at: commit.at, took: commit.took) { return end }
        }
        return checks.take().flatMap { checked($0) }
    }

    private mutating func fit(_ result: CommitResult, took: Duration) {
        context.quota.note(committer.producer.throttle)
        let isCommitted = if case .committed = result { true } else { false }
        let events = context.running.worker.readAheadEvents
        guard context.quota.ended(in: took, isCommitted: isCommitted, of: events) else { return }
        machine.apply(Self.settings(context.running, limit: context.quota.limit))
    }

    private mutating func ended(_ result: CommitResult, at time: UnixTime, took: Duration) -> SessionEnd? {
        switch result {
        case .committed(let unit):
            machine.committed(at: time)
            for lane in Lane.allCases { committed.committed(unit.offsets[lane], unit.marks, at: time) }
            processor.confirm(throughBatch: unit.lastBatch)
            aborts = EqualAborts()
            context.reachability.succeeded()
            observer.advanced()
            // Offsets have no time that brokers could refuse.
            if unit.isPublishing { context.clock.accepted() }
            if publishing.committed(unit) { observer.committed() }
        case .aborted(let error):
            machine.aborted(at: context.now())
            publishing.aborted()
            if error.code == .invalidTimestamp { context.clock.refused(at: context.now()) }
            observer.aborted(error, isRepeated: aborts.isTelling(error.code))
        case .blocked(let blockage):
            machine.aborted(at: context.now(), isBlocked: true)
            publishing.aborted()
            self.blockage = blockage
            observer.blocked(blockage)
        case .unusable(let error): return .unusable(error)
        case .fenced(let error):
            let limit = KafkaProperties(context.configuration, bootstrapServers: "").transactionLimit
            return context.quota.isOverdue(took, limit) ? .unusable(error) : .fenced(error)
        }
        return nil
    }

    // MARK: Topics that cannot be written

    func check() {
        guard let blockage else { return }
        background.addTask { [committer, checks, wakeup = lanes.wakeup] in
            checks.put(await committer.isCleared(blockage))
            wakeup.signal()
        }
    }

    private mutating func checked(_ check: BlockageCheck) -> SessionEnd? {
        switch check {
        case .cleared:
            blockage = nil
            machine.unblocked()
            observer.unblocked()
        case .blocked(let error):
            machine.stillBlocked(at: context.now())
            observer.stillBlocked(blockage?.topic ?? "", error)
        case .unusable(let error): return .unusable(error)
        case .fenced(let error): return .fenced(error)
        }
        return nil
    }

    // MARK: The fleet's word

    /// Applies the records that the control topic held when it was first read. Pauses and suspensions that are over are
    /// not logged: they are no news in the log of a restart.
    private mutating func takeHistory() {
        let words = control.take()
        processor.takeHistory { processor in
            for word in words { Self.apply(word, to: &processor) }
        }
        let records = words.compactMap { word in if case .lane(let record) = word { record } else { nil } }
        tell(lanePauses.takeHistory(records, at: context.now()))
        raiseAlarms()
    }

    private mutating func takeWords() {
        for word in control.take() {
            Self.apply(word, to: &processor)
            guard case .lane(let record) = word else { continue }
            tell(lanePauses.hold(record.pause, of: record.lane, at: context.now()).map { [$0] } ?? [])
        }
        tell(lanePauses.endElapsed(at: context.now()))
        raiseAlarms()
    }

    private static func apply(_ word: ControlWord, to processor: inout BatchProcessor) {
        switch word {
        case .app(let record): processor.hold(record.suspension, of: record.app)
        case .refusals(let record): processor.heard(record.counts, of: record.app, from: record.worker)
        case .lane: break
        }
    }

    private mutating func tell(_ changes: [LanePauses.Change]) {
        guard !changes.isEmpty else { return }
        machine.pausedLanes = lanePauses.lanes
        observer.show(lanePauses)
        for change in changes { observer.changed(change) }
    }

    // MARK: Telling

    private mutating func raiseAlarms() {
        let alarms = processor.takeAlarms()
        guard !alarms.isEmpty else { return }
        // The status is set before the log line, because a reader of the line may ask for it at once.
        context.showApps(processor)
        for alarm in alarms {
            observer.raised(alarm)
            switch alarm {
            case .suspended(let suspension), .narrowed(let suspension): control.tell(suspension.app, suspension)
            case .resumed(let suspension, .probe): control.tell(suspension.app, nil)
            // Where a pause's time is over, every worker knows by itself.
            case .resumed(_, .told), .resumed(_, .elapsed), .told: break
            // It holds for this worker's partitions alone.
            case .suspendedHere, .refusing, .accepting: break
            }
        }
    }

    /// Updates the metrics, and logs the suspensions that a probe lifted, once a second.
    mutating func report() async {
        guard .now >= nextReport else { return }
        nextReport = .now + .seconds(1)
        if steps.isSet(context.now(), elapsed: .now - start) { rereadVersions() }
        processor.checkSuspensions()
        for report in processor.dueReports() {
            control.tell(report.app, counts: report.counts, of: report.worker)
        }
        raiseAlarms()
        observer.logOutcomes()
        var lag: [[String]: Double] = [:]
        var waiting = 0
        for lane in Lane.allCases {
            let consumer = lanes.consumers[lane]
            let records = self.lag.records(
                of: await consumer.assignedPartitions, ends: await consumer.knownEnds,
                positions: machine.positions(lane))
            for (partition, count) in records {
                lag[[lane.rawValue, partition.topic, String(partition.partition)]] = Double(count)
            }
            guard machine.pausedLanes.contains(lane) else {
                if lane != .retries { waiting += Int(records.values.reduce(0, +)) }
                restingLag.forget(lane)
                continue
            }
            for (partition, count) in restingLag.known(lane) {
                lag[[lane.rawValue, partition.topic, String(partition.partition)]] = Double(count)
            }
            if restingLag.isDue(lane) {
                background.addTask { [restingLag] in
                    await restingLag.ask(lane, consumer)
                }
            }
        }
        observer.looked(at: machine.waiting(lag: waiting), machine.standing)
        if !machine.isGivingUp { background.addTask { [committer] in await committer.commitLeftOffsets() } }
        context.showApps(processor)
        let refusals = processor.refusalCounts()
        observer.measured(machine, processor, refusals: refusals, lag: lag, at: context.now())
        observer.lookedUp(processor.takeLookupTally())
        context.quota.note(committer.producer.throttle)
        observer.throttled(committer.producer.throttle, context.quota.look())
        clockSample.append = committer.producer.takeAppendTime()
        context.clock.record(clockSample, at: context.now())
        clockSample = ClockWatch.Sample()
        if context.reachability.isQuestionDue {
            let topic = context.configuration.topics.invalidations
            background.addTask { [consumer = lanes.consumers[.live], reachability = context.reachability] in
                let answer = try? await consumer.metadata(of: topic, within: .seconds(1))
                reachability.asked(isAnswered: answer != nil)
            }
        }
    }

    /// Applies a new configuration, if there is one: between two batches, so that one configuration alone answers each
    /// batch.
    private mutating func takeReload() async {
        guard let reloader = context.reloader, let reload = reloader.running.take() else { return }
        await reloader.begin(reload)
        processor.apply(reload.terms(worker: instance, reserved: context.configuration.appTopics))
        machine.apply(Self.settings(reload.plan.configuration, limit: context.quota.limit))
        // Every event that waits for a vendor's answer is looked at again, and asks again where it has to.
        machine.answersCame()
        askVendors()
        context.showApps(processor)
        await reloader.end(reload)
    }

    /// Returns the machine's settings in `configuration`.
    ///
    /// - Parameter limit: the most events to read ahead because of a quota; nil for no limit.
    static func settings(_ configuration: Configuration, limit: Int?) -> SessionStateMachine.Settings {
        let worker = configuration.worker
        return SessionStateMachine.Settings(
            shares: LaneShares(readAhead: min(worker.readAheadEvents, limit ?? .max), bulkShare: worker.bulkShare),
            linger: worker.batchLinger, rest: configuration.delivery == .exactlyOnce ? rest : .zero,
            retries: configuration.retryPolicy, memory: worker.memory)
    }
}
