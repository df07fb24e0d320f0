import AdapterKit
import Kafka
import Logging
import Pipeline
import ServiceLifecycle
import Telemetry
import WorkerConfiguration

/// Carries out what the state machine decides: takes events, processes batches, commits in the background, answers the groups.
struct SessionLoop {
    let lanes: LaneConsumers
    let committer: any Committer
    let context: SessionContext
    /// What holds for the whole fleet.
    let control: ControlTopic
    /// Whether commits are to give up on a topic that cannot be written.
    let patience: CommitPatience
    /// The highest version on the token topic, which others may have written.
    let versions: @Sendable () async -> Int64?
    var processor: BatchProcessor
    var committed: CommittedOffsets
    var machine: SessionStateMachine
    private var rebalances = PerLane<Rebalance?> { _ in nil }
    private var watch = PartitionWatch()
    private var blockage: Blockage?
    private var isChecking = false
    private var isQuiet = false
    private var backoff = Backoff()
    private var pausedUntil: ContinuousClock.Instant?
    private var nextReport = ContinuousClock.now
    private var digest = OutcomeLog()
    /// The last abort's error, and how often in a row it came.
    private var aborts: (code: KafkaError.Code, count: Int)?
    /// So many equal aborts in a row are no accident.
    private static let abortsToTell = 3
    /// What is added to the transaction under way.
    private var additions = Additions()
    private let commits = Handoff<EndedCommit>()
    private let checks = Handoff<BlockageCheck>()
    /// What a broker takes to write a transaction's markers, with some to spare.
    private static let rest = Duration.milliseconds(8)

    init(
        lanes: LaneConsumers, committer: any Committer, context: SessionContext, control: ControlTopic,
        patience: CommitPatience,
        versions: @escaping @Sendable () async -> Int64?, processor: BatchProcessor, committed: CommittedOffsets
    ) {
        self.versions = versions
        self.lanes = lanes
        self.committer = committer
        self.context = context
        self.control = control
        self.patience = patience
        self.processor = processor
        self.committed = committed
        let worker = context.configuration.worker
        machine = SessionStateMachine(
            SessionStateMachine.Settings(
                // Of what is taken ahead, half is worked on at once.
                shares: LaneShares(batchEvents: worker.batchEvents / 2, bulkShare: worker.bulkShare),
                linger: worker.batchLinger, rest: context.configuration.delivery == .exactlyOnce ? Self.rest : .zero,
                retries: context.configuration.retryPolicy, memory: worker.memory))
    }

    /// Runs until the worker is to stop or the clients are of no further use.
    mutating func run(_ background: inout DiscardingTaskGroup) async -> SessionEnd {
        defer { digest.tell(context.logger) }
        while !Task.isCancelled {
            context.status.beat()
            takeOrders()
            takeAnswers()
            var hasMore = false
            do throws(KafkaError) { hasMore = try await take() } catch { return .unusable(error) }
            if let end = collect(&background) { return end }
            await report(&background)
            if let pausedUntil, .now < pausedUntil, !Task.isShuttingDownGracefully {
                await lanes.wakeup.wait(atMost: min(pausedUntil - .now, .milliseconds(100)))
                continue
            }
            switch machine.next(at: context.now()) {
            case .process(let batch):
                do throws(KafkaError) { try await process(batch) } catch { return .unusable(error) }
            case .commit(let transaction): commit(transaction, &background)
            case .add(let addition): machine.added(additions.offer(stamped(addition)) ? addition : nil)
            case .rollBack: processor.rollBack()
            // What was published is not left to be repeated by others.
            case .answer where await committer.hasOpenOffsets, .stop where await committer.hasOpenOffsets:
                await wait(until: nil)
            case .answer(let lane): await answer(lane)
            case .wait(let moment): if !hasMore { await wait(until: moment) }
            case .stop: return .stopped
            }
        }
        return .stopped
    }

    // MARK: Orders

    private mutating func takeOrders() {
        if Task.isShuttingDownGracefully {
            machine.stop()
            context.status.set(.worker, "it is stopping")
        } else if context.status.isQuiet != isQuiet {
            isQuiet.toggle()
            context.status.set(.worker, isQuiet ? "it is quiet: it takes nothing new; SIGUSR1 ends that" : nil)
            context.logger.notice(isQuiet ? "quiet: nothing new is taken" : "no longer quiet: events are taken again")
        }
        for app in context.status.takeResumptions() {
            processor.resume(app)
            control.tell(app, nil)
        }
        for record in control.take() { processor.hold(record.suspension, of: record.app) }
        raiseAlarms()
        let isGivingUp = Task.isShuttingDownGracefully || Lane.allCases.contains { rebalances[$0] != nil }
        patience.isOver = isGivingUp
    }

    // MARK: Taking

    /// Takes what there is and may be taken.
    ///
    /// - Returns: whether there may be more at once.
    private mutating func take() async throws(KafkaError) -> Bool {
        var hasMore = false
        let isHeld = isQuiet || machine.isBlocked
        for lane in Lane.allCases {
            let consumer = lanes.consumers[lane]
            // Whoever takes nothing must not seem gone, or the group gives its partitions away during a commit.
            await consumer.keepAlive()
            if rebalances[lane] != nil || Task.isShuttingDownGracefully { continue }
            let throttled = lane == .retries ? machine.throttledRetries() : []
            try await watch.apply(isHeld ? .everything : .some(throttled), to: consumer, lane)
            // A held lane's partitions are paused: what comes is a rebalance or an error.
            let limit = isHeld ? 100 : machine.demand(lane)
            let taken = await lanes.take(limit, of: lane)
            hasMore = hasMore || limit > 0 && taken.count == limit
            try handle(taken, lane)
        }
        return hasMore
    }

    /// How much of a lane is taken while a batch is processed: what there is of it by then stands ready for the next one.
    private func demandBeside(_ lane: Lane) -> Int {
        let isHeld = isQuiet || machine.isBlocked || rebalances[lane] != nil || Task.isShuttingDownGracefully
        // Partitions of the retries may have to be paused first.
        return isHeld || lane == .retries ? 0 : machine.demand(lane)
    }

    private mutating func handle(_ taken: LaneConsumers.Taken, _ lane: Lane) throws(KafkaError) {
        for event in taken.others {
            switch event {
            case .record: break
            case .rebalance(let rebalance):
                rebalances[lane] = rebalance
                machine.rebalancing(lane, SessionStateMachine.Rebalance(rebalance))
            case .endOfPartition: break
            case .error(let error):
                guard !error.isFatal else { throw error }
                context.reachability.noted(error)
                if error.code.isAboutReading {
                    context.status.set(.topics, "the \(lane.rawValue) lane's topics cannot be read: \(error)")
                }
                context.logger.warning(
                    "a consumer reports an error",
                    metadata: [LogKey.lane: "\(lane.rawValue)", LogKey.kafkaError: "\(error)"])
            }
        }
        guard !taken.records.isEmpty else { return }
        for setback in committed.setbacks(in: taken.records) { context.report(setback) }
        if context.status.problems[.topics] != nil { context.status.set(.topics, nil) }
        machine.received(taken.records, on: lane, at: context.now())
        context.metrics.took(taken.records.count, lane)
    }

    private mutating func answer(_ lane: Lane) async {
        defer {
            machine.answered(lane)
            rebalances[lane] = nil
            watch.forget(lane)
        }
        guard let rebalance = rebalances[lane] else { return }
        if rebalance.kind == .assigned, !rebalance.partitions.isEmpty {
            for floor in [await versions(), await committedVersion(of: rebalance.partitions, lane)].compactMap({ $0 }) {
                raiseVersions(above: floor)
            }
        }
        let names = rebalance.partitions.map(\.description).joined(separator: ", ")
        context.logger.info(
            rebalance.kind == .assigned ? "partitions were assigned" : "partitions were revoked",
            metadata: [LogKey.lane: "\(lane.rawValue)", LogKey.partitions: "\(names)"])
        if rebalance.kind == .assigned {
            committed.assigned(rebalance.partitions)
        }
        do throws(KafkaError) { try await lanes.consumers[lane].answer(rebalance) } catch {
            context.logger.warning(
                "the group moved on before it was answered", metadata: [LogKey.kafkaError: "\(error)"])
        }
    }

    /// The highest version that whoever had these partitions before committed with their offsets.
    private func committedVersion(of partitions: [TopicPartition], _ lane: Lane) async -> Int64? {
        do throws(KafkaError) {
            let offsets = try await lanes.consumers[lane].committedOffsets(partitions, within: .seconds(5))
            return offsets.compactMap { $0.metadata.flatMap(VersionMetadata.version) }.max()
        } catch {
            context.logger.warning(
                "the versions in the committed offsets could not be read; this worker goes by the token topic and its clock",
                metadata: [LogKey.lane: "\(lane.rawValue)", LogKey.kafkaError: "\(error)"])
            return nil
        }
    }

    /// A version that lies more than a day ahead is no clock's, and nothing would ever come after it.
    private mutating func raiseVersions(above floor: Int64) {
        guard floor < context.now().advanced(bySeconds: 86_400).microseconds else {
            context.logger.warning(
                "a version on the token topic lies more than a day ahead and is not followed",
                metadata: [LogKey.topic: "\(context.configuration.topics.tokens)"])
            return
        }
        processor.raiseVersions(above: floor)
    }

    // MARK: Look-ups

    /// Takes the vendors' answers, and asks what may be asked by now.
    private mutating func takeAnswers() {
        guard let lookups = context.lookups else { return }
        let replies = lookups.takeReplies()
        if !replies.isEmpty {
            processor.received(replies)
            machine.answersCame()
        }
        if !replies.isEmpty || processor.nextLookup.map({ $0 <= context.now() }) ?? false { askVendors() }
    }

    private mutating func askVendors() {
        guard let lookups = context.lookups else { return }
        let calls = processor.lookups(isMoreComing: machine.queued(.live) + machine.queued(.bulk) > 0)
        if !calls.isEmpty { lookups.ask(calls) }
    }

    // MARK: Work

    private mutating func process(_ batch: Batch) async throws(KafkaError) {
        let start = ContinuousClock.now
        let demand = PerLane { demandBeside($0) }
        async let live = lanes.take(demand[.live], of: .live)
        async let bulk = lanes.take(demand[.bulk], of: .bulk)
        let progress = await processor.process(batch)
        let seconds = (.now - start) / .seconds(1)
        machine.processed(batch.number, progress, seconds: seconds)
        context.metrics.processed(progress, seconds: seconds)
        raiseAlarms()
        askVendors()
        try handle(await live, .live)
        try handle(await bulk, .bulk)
    }

    /// With the highest version there is: whoever takes its partitions next goes on above it.
    private func stamped(_ transaction: CommitUnit) -> CommitUnit {
        var transaction = transaction
        transaction.highestVersion = processor.highestVersion
        return transaction
    }

    private mutating func commit(_ transaction: CommitUnit, _ background: inout DiscardingTaskGroup) {
        additions = Additions()
        background.addTask {
            [transaction = stamped(transaction), committer, additions, commits, context, wakeup = lanes.wakeup] in
            let start = ContinuousClock.now
            let result = await committer.commit(transaction, additions)
            let (took, end) = (.now - start, context.now())
            // What there is to tell of thousands of events is told here: the loop has the next ones to process.
            var digest = OutcomeLog()
            if case .committed(let transaction) = result {
                context.committed(transaction)
                digest = OutcomeLog(transaction)
            }
            commits.put(EndedCommit(result: result, at: end, took: took, digest: digest))
            wakeup.signal()
            await committer.commitOffsets()
            wakeup.signal()
        }
    }

    /// Takes in what the background came to.
    private mutating func collect(_ background: inout DiscardingTaskGroup) -> SessionEnd? {
        if let commit = commits.take() {
            context.metrics.ended(commit.result, seconds: commit.took / .seconds(1))
            digest.add(commit.digest)
            if let end = ended(commit) { return end }
        }
        if let check = checks.take(), let end = checked(check) { return end }
        checkBlockage(&background)
        return nil
    }

    private mutating func ended(_ commit: EndedCommit) -> SessionEnd? {
        switch commit.result {
        case .committed(let transaction):
            machine.committed(at: commit.at)
            for lane in Lane.allCases { committed.committed(transaction.offsets[lane]) }
            processor.confirm(throughBatch: transaction.lastBatch)
            backoff.reset()
            aborts = nil
            context.reachability.succeeded()
            // At least once, a blockage is waited for within a commit, which may have been given up.
            if context.status.problems[.publishing] != nil { context.blocked(nil) }
        case .aborted(let error):
            machine.aborted()
            noteAbort(error)
            pausedUntil = .now + backoff.pause()
            context.logger.warning(
                "a transaction was aborted; its events are taken again", metadata: [LogKey.kafkaError: "\(error)"])
        case .blocked(let blockage):
            machine.aborted(isBlocked: true)
            self.blockage = blockage
            pausedUntil = .now + backoff.pause()
            context.blocked(blockage)
        case .unusable(let error): return .unusable(error)
        case .fenced(let error): return .fenced(error)
        }
        return nil
    }

    /// A worker that aborts every transaction for the same reason is not ready, whatever the reason is called.
    private mutating func noteAbort(_ error: KafkaError) {
        aborts = (error.code, aborts?.code == error.code ? (aborts?.count ?? 0) + 1 : 1)
        guard aborts?.count == Self.abortsToTell else { return }
        context.status.set(.publishing, "every transaction is aborted: \(error)")
        context.logger.error(
            "transaction after transaction is aborted for the same reason; nothing is answered until that is mended",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    // MARK: Blockages

    private mutating func checkBlockage(_ background: inout DiscardingTaskGroup) {
        guard let blockage, !isChecking, pausedUntil.map({ $0 <= .now }) ?? true, !Task.isShuttingDownGracefully else {
            return
        }
        isChecking = true
        background.addTask { [committer, checks, wakeup = lanes.wakeup] in
            checks.put(await committer.isCleared(blockage))
            wakeup.signal()
        }
    }

    private mutating func checked(_ check: BlockageCheck) -> SessionEnd? {
        isChecking = false
        switch check {
        case .cleared:
            blockage = nil
            backoff.reset()
            machine.unblocked()
            context.blocked(nil)
        case .blocked(let error):
            pausedUntil = .now + backoff.pause()
            context.logger.warning(
                "the topic still cannot be written",
                metadata: [LogKey.topic: "\(blockage?.topic ?? "")", LogKey.kafkaError: "\(error)"])
        case .unusable(let error): return .unusable(error)
        case .fenced(let error): return .fenced(error)
        }
        return nil
    }

    // MARK: Telling

    private func wait(until moment: UnixTime?) async {
        // Orders come as signals, which wake nobody: they are looked for often enough.
        var wait = Duration.milliseconds(200)
        if let moment = [moment, processor.nextLookup].compactMap({ $0 }).min() {
            wait = min(wait, .microseconds(max(1000, moment.microseconds(since: context.now()))))
        }
        await lanes.wakeup.wait(atMost: wait)
    }

    private mutating func raiseAlarms() {
        let alarms = processor.takeAlarms()
        guard !alarms.isEmpty else { return }
        // First shown, then said: whoever reads of it may ask at once.
        context.showApps(processor)
        for alarm in alarms {
            context.raise(alarm)
            switch alarm {
            case .suspended(let suspension): control.tell(suspension.app, suspension)
            case .resumed(let suspension, .probe): control.tell(suspension.app, nil)
            case .resumed(_, .told), .told: break
            }
        }
    }

    /// Once a second: what the metrics say of the present, and which suspensions a probe ended.
    private mutating func report(_ background: inout DiscardingTaskGroup) async {
        guard .now >= nextReport else { return }
        nextReport = .now + .seconds(1)
        processor.checkSuspensions()
        raiseAlarms()
        digest.tell(context.logger)
        var lag: [[String]: Double] = [:]
        for lane in Lane.allCases {
            let ends = await lanes.consumers[lane].knownEnds
            let positions = machine.positions(lane)
            for (partition, end) in ends {
                // Until a first record came, nothing is known of where this member is.
                guard let position = positions[partition] else { continue }
                lag[[lane.rawValue, partition.topic, String(partition.partition)]] = Double(max(0, end - position))
            }
        }
        context.report(machine, processor, lag: lag)
        context.report(processor.takeLookupTally())
        if context.reachability.isQuestionDue {
            let topic = context.configuration.topics.invalidations
            background.addTask { [consumer = lanes.consumers[.live], reachability = context.reachability] in
                let answer = try? await consumer.metadata(of: topic, within: .seconds(1))
                reachability.asked(isAnswered: answer != nil)
            }
        }
    }
}

extension SessionStateMachine.Rebalance {
    init(_ rebalance: Rebalance) {
        let partitions = rebalance.partitions
        switch rebalance.kind {
        case .assigned: self = .assigned
        case .revoked(let isLost): self = isLost ? .lost(partitions) : .revoked(partitions)
        }
    }
}
