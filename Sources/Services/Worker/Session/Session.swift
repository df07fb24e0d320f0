import AdapterKit
import Kafka
import Pipeline
import ServiceLifecycle
import Wiring
import WorkerConfiguration

/// One lifetime of the Kafka clients. It always starts from the broker's offsets, so that a producer in an unknown
/// state can simply be replaced.
struct Session {
    let context: SessionContext
    let bootstrapServers: String
    let instance: String
    /// The name by which the groups keep the worker's places while it restarts; nil for a name that the next process does not get.
    var place: String?
    let isReady: @Sendable (String) -> Void

    private var configuration: Configuration { context.configuration }
    private var observer: SessionObserver { context.observer }
    private var isExactlyOnce: Bool { configuration.delivery == .exactlyOnce }

    /// Runs until the worker stops or the clients are of no further use.
    ///
    /// - Parameters:
    ///   - processor: The batch processor, whose memory of published tokens outlives the session.
    ///   - committed: The committed offsets, which outlive the session too.
    ///   - lanePauses: The pauses of lanes, which outlive the session too.
    ///   - blockage: The topics that could not be written, until they can.
    /// - Throws: `KafkaError` where the brokers cannot be reached at all, or refuse the clients.
    func run(
        _ processor: inout BatchProcessor, _ committed: inout CommittedOffsets, _ lanePauses: inout LanePauses,
        _ blockage: inout Blockage?
    ) async throws -> SessionEnd {
        let properties = KafkaProperties(configuration, bootstrapServers: bootstrapServers)
        // Clients that are made now read the files as they are now.
        _ = context.requests.takeRenewal()
        let producer = try KafkaProducer(
            isExactlyOnce ? properties.transactionalProducer(id: instance) : properties.workerProducer,
            logger: context.clientLogger
        )
        var closing = ClosingTime(configuration.worker.shutdownDeadline)
        let end: SessionEnd
        do {
            end = try await run(
                &processor, &committed, &lanePauses, &blockage, &closing, producer: producer, properties: properties)
        } catch {
            await producer.close(within: ClosingTime.least)
            throw error
        }
        switch end {
        case .stopped, .renewed, .reopened: await producer.close(within: closing.ofProducer)
        case .unusable, .fenced, .broken:
            // Nobody needs the records that it still holds.
            await producer.close(within: ClosingTime.least)
        }
        return end
    }

    private func run(
        _ processor: inout BatchProcessor, _ committed: inout CommittedOffsets, _ lanePauses: inout LanePauses,
        _ blockage: inout Blockage?, _ closing: inout ClosingTime, producer: KafkaProducer, properties: KafkaProperties
    ) async throws -> SessionEnd {
        // First of all, for readers of committed records wait until the transaction of a predecessor is over.
        _ = try await context.reachability.metadata(of: configuration.topics.tokens, from: producer)
        if isExactlyOnce, let end = await register(producer) { return end }
        guard try await waitForTopics(producer), try await waitForAbandonedTiers(producer, properties) else {
            return .stopped
        }
        let tokenPartitions = try await producer.metadata(of: configuration.topics.tokens, within: .seconds(15))
            .partitionCount
        let floor = VersionFloor(context, bootstrapServers: bootstrapServers)
        producer.prepare(configuration.outputTopics)
        let transactions = Transactions(
            producer: producer, callLimit: context.quota.stretched(Transactions.callLimit))
        if let end = await waitForClearance(of: &blockage, transactions) { return end }
        let wakeup = Wakeup()
        let control = ControlTopic(
            configuration, bootstrapServers: bootstrapServers, now: context.now, unreadable: context.unreadable,
            observer: observer, clientLogger: context.clientLogger
        ) { wakeup.signal() }
        // Before the groups are joined: partitions wait for nobody who does not take part.
        let controlReader: KafkaConsumer?
        switch try await openControl(control) {
        case .stopped: return .stopped
        case .renewed: return .renewed
        case .missing: controlReader = nil
        case .open(let reader): controlReader = reader
        }
        processor.follow(fleet: controlReader != nil)
        observer.topicsFound()
        let lanes: LaneConsumers
        do throws(KafkaError) {
            lanes = try await LaneConsumers(
                configuration, properties, place: place, wakeup: wakeup, tracing: context.tracing,
                logger: context.clientLogger)
        } catch {
            await controlReader?.close(within: ClosingTime.least)
            throw error
        }
        context.lookups?.onReply { wakeup.signal() }
        observer.show(lanePauses)
        observer.opened()
        let commitWindow = CommitWindow()
        var loop = SessionLoop(
            lanes: lanes, committer: committer(producer, lanes, commitWindow), context: context, instance: instance,
            control: control, commitWindow: commitWindow, properties: properties,
            logs: PartitionLogs(properties, group: configuration.kafka.group, logger: context.clientLogger),
            versions: { await floor.read(partitions: tokenPartitions) },
            batchEnd: { [configuration, logger = context.clientLogger] place throws(KafkaError) in
                try await KafkaConsumer.end(
                    ofBatchAt: place, properties.reader(group: "\(configuration.kafka.group)-batches"),
                    within: .seconds(30), logger: logger)
            }, processor: processor, committed: committed, lanePauses: lanePauses)
        loop.begin = { [observer, configuration, bootstrapServers, instance, isReady] in
            observer.began(configuration, bootstrapServers: bootstrapServers, instance: instance)
            isReady(bootstrapServers)
        }
        // A task of its own, which a graceful shutdown does not end: the last suspension is reported after the last
        // event finished.
        let following = controlReader.map { reader in Task.detached { await control.run(reader) } }
        let background = loop.background
        let end = await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                await loop.run()
            } onCancel: {
                background.cancel()
            }
        } onGracefulShutdown: {
            wakeup.signal()
        }
        commitWindow.isOver = true
        closing.until = loop.renewal
        // Leaving the groups hands the partitions on at once instead of after the session's end, and they wait for that. Whoever follows
        // at once gets them again.
        let limit = closing.ofGroups
        let leaving = loop.isDone ? Task { await lanes.close(within: limit) } : nil
        await finish(background, end, &closing)
        // With those of a commit that finished after the loop.
        observer.logOutcomes(isLast: true)
        following?.cancel()
        await finish(following, end, closing)
        loop.rollBack()
        processor = loop.processor
        committed = loop.committed
        lanePauses = loop.lanePauses
        blockage = loop.blockage
        let keepsPlaces = !end.isStop && !Task.isShuttingDownGracefully
        let isLeft: Bool
        if let leaving {
            isLeft = await leaving.value
        } else {
            isLeft = await lanes.close(within: closing.ofGroups, keepsPlaces: keepsPlaces)
        }
        if !isLeft { observer.leftLate() }
        return end
    }

    /// Waits for the background work of the loop. Only a worker that stops waits for all of it, because the process has
    /// its own deadline then. Otherwise new clients follow, and they settle a hanging commit: registering the
    /// transactional id ends the transaction or finds it committed, and partitions are read from the committed offsets.
    private func finish(_ background: BackgroundWork, _ end: SessionEnd, _ closing: inout ClosingTime) async {
        if case .stopped = end { return await background.finish() }
        guard !(await background.finish(within: closing.rest)) else { return }
        background.cancel()
        closing.isOver = true
        observer.commitGivenUp(instance: instance)
    }

    /// Waits for the follower of the control topic, which was asked to stop.
    private func finish(_ following: Task<Void, Never>?, _ end: SessionEnd, _ closing: ClosingTime) async {
        guard let following else { return }
        if case .stopped = end { return await following.value }
        _ = await Deadline.run(within: closing.ofGroups) { done in
            Task {
                await following.value
                done()
            }
        }
    }

    private func committer(_ producer: KafkaProducer, _ lanes: LaneConsumers, _ commitWindow: CommitWindow)
        -> any Committer
    {
        if isExactlyOnce {
            return TransactionalCommitter(
                producer: producer, consumers: lanes.consumers, configuration: configuration, now: context.now,
                quota: context.quota)
        }
        return AtLeastOnceCommitter(
            producer: producer, consumers: lanes.consumers, configuration: configuration, now: context.now,
            window: commitWindow,
            isBlocked: { [observer] in if let blockage = $0 { observer.blocked(blockage) } else { observer.unblocked() }
            },
            isRefused: observer.offsetsRefused)
    }

    // MARK: Start

    /// Waits until every topic is there: a typing mistake in a name must show before the first event, not as a token that
    /// goes nowhere.
    ///
    /// - Returns: false when the worker is to stop.
    /// - Throws: `KafkaError` where no broker answers.
    private func waitForTopics(_ producer: KafkaProducer) async throws -> Bool {
        var backoff = Backoff()
        while true {
            var missing: [String] = []
            for topic in configuration.allTopics {
                let metadata = try await context.reachability.metadata(of: topic, from: producer)
                context.reachability.succeeded()
                guard metadata.partitionCount == 0 else { continue }
                missing.append("\(topic): \(metadata.error?.message ?? "no partitions")")
            }
            if missing.isEmpty {
                observer.topicsFound()
                return true
            }
            let list = missing.joined(separator: "; ")
            observer.topicsMissing(list)
            guard await pause(backoff.pause()) else { return false }
        }
    }

    /// Waits until no retry topic that was taken out of the configuration holds events: nobody else would read them.
    ///
    /// - Returns: false when the worker is to stop.
    /// - Throws: `KafkaError` where no broker answers.
    private func waitForAbandonedTiers(_ producer: KafkaProducer, _ properties: KafkaProperties) async throws -> Bool {
        let tiers = AbandonedTiers(configuration: configuration, properties: properties, logger: context.clientLogger)
        var backoff = Backoff()
        while true {
            let found = try await tiers.find(asking: producer).joined(separator: ", ")
            if found.isEmpty {
                observer.topicsFound()
                return true
            }
            observer.tiersAbandoned(found)
            guard await pause(backoff.pause()) else { return false }
        }
    }

    /// Reads the control topic to its end, however long that takes: nothing is answered that an operator paused.
    ///
    /// - Throws: `KafkaError` where no client can be made.
    private func openControl(_ control: ControlTopic) async throws -> ControlTopic.Opening {
        let start = ContinuousClock.now
        var isTold = false
        return try await control.open { problem in
            observer.waited()
            if context.requests.takeRenewal() { return .renewed }
            if Task.isShuttingDownGracefully || Task.isCancelled { return .stopped }
            guard .now - start > ControlTopic.timeout || problem != nil else { return nil }
            let reason = problem ?? "it was not read to its end within \(ControlTopic.timeout)"
            observer.controlUnread(configuration.topics.control, reason, isNew: !isTold)
            isTold = true
            return nil
        }
    }

    /// - Returns: false when the worker is to stop. A graceful shutdown cancels nothing, so it is looked for between short
    ///   sleeps.
    func pause(_ length: Duration) async -> Bool {
        let end = ContinuousClock.now + length
        while .now < end {
            if Task.isShuttingDownGracefully || Task.isCancelled { return false }
            observer.waited()
            try? await Task.sleep(for: min(.milliseconds(250), end - .now))
        }
        return !Task.isShuttingDownGracefully && !Task.isCancelled
    }

    // MARK: The transactional producer

    /// Registers the transactional id, which ends a predecessor's open transaction.
    func register(_ producer: KafkaProducer) async -> SessionEnd? {
        while true {
            do throws(KafkaError) {
                try await producer.initTransactions(within: .seconds(30))
                return nil
            } catch {
                switch TransactionVerdict(error) {
                case .fenced: return .fenced(error)
                case .abort, .unusable: return .unusable(error)
                case .retry:
                    // With an expired certificate it would not finish.
                    if context.requests.takeRenewal() { return .renewed }
                    context.observer.registrationFailed(error)
                    guard await pause(.milliseconds(250)) else { return .stopped }
                    context.observer.brokersFound()
                }
            }
        }
    }

    /// Waits until the topics can be written that the session before could not write. A refused transaction can cost the
    /// producer, so no group is joined before: each session would take its partitions and give them back.
    func waitForClearance(of blockage: inout Blockage?, _ transactions: Transactions) async -> SessionEnd? {
        var backoff = Backoff()
        while let blocked = blockage {
            switch await transactions.isCleared(blocked) {
            case .cleared:
                blockage = nil
                context.observer.unblocked()
            case .blocked(let error):
                context.observer.stillBlocked(blocked.topic, error)
                if context.requests.takeRenewal() { return .renewed }
                guard await pause(backoff.pause()) else { return .stopped }
            case .unusable(let error): return .unusable(error)
            case .fenced(let error): return .fenced(error)
            }
        }
        return nil
    }
}

/// The time that a session's clients have to close, as a part of the time for the session's end.
struct ClosingTime: Sendable {
    /// The time for clients of which nothing is expected any more.
    static let least = Duration.seconds(1)
    /// The longest wait for anything: the worker shows no sign of life meanwhile.
    private static let longest = Duration.seconds(30)

    private let deadline: Duration
    /// The time by which new clients are due; nil where none are requested.
    var until: ContinuousClock.Instant?
    var isOver = false

    /// The closing of a session whose end may take `deadline`.
    init(_ deadline: Duration) { self.deadline = deadline }

    var rest: Duration { isOver ? .zero : min(Self.longest, until.map { max(.zero, $0 - .now) } ?? deadline) }

    var ofGroups: Duration { bounded(deadline / 2) }

    var ofProducer: Duration { isOver ? .zero : bounded(deadline / 4) }

    private func bounded(_ share: Duration) -> Duration {
        guard isOver || until != nil else { return share }
        return min(share, max(Self.least, rest))
    }
}

/// The search for a live worker with this one's name, once the brokers fence this one again and again.
///
/// A fence alone shows no such worker: a coordinator that is lost, and a transaction that outlived its timeout, fence a
/// worker too, and a new epoch ends that. A worker with the same name comes back, and its place in the group outlives a
/// session's timeout in which this worker is away.
struct TwinSearch {
    /// The time after which a fence has nothing to do with the one before.
    private static let memory = Duration.seconds(60)
    /// The fences in a row after which the worker ends, if the brokers do not show their groups.
    private static let most = 5

    /// The next step after a fence.
    enum Step: Equatable {
        /// Make new clients, which get a new epoch.
        case again
        /// Stay away for a session's timeout, then look who is in the group.
        case look
    }

    private var last: Duration?
    private var count = 0

    /// Notes a fence at `now`, counted from any moment.
    mutating func fenced(at now: Duration) -> Step {
        count = last.map { now - $0 < Self.memory } ?? false ? count + 1 : 1
        last = now
        return count == 1 ? .again : .look
    }

    /// Returns why the worker must end; nil where it makes new clients.
    ///
    /// - Parameters:
    ///   - members: the members of the live lane's group, after this worker was away from it; nil where the brokers do not
    ///     show them.
    ///   - name: the name by which the group knows this worker.
    func end(_ members: [ConsumerGroup.Member]?, name: String, worker: String) -> WorkerError? {
        guard let members else {
            guard count >= Self.most else { return nil }
            return WorkerError(
                "fenced \(count) times in a row, and the brokers do not show the group's members: allow DESCRIBE on it, and give each worker its own kafka.instance; this one is \(worker)"
            )
        }
        // A static member's id is its name and a random part.
        guard let twin = members.first(where: { $0.id.hasPrefix("\(name)-") }) else { return nil }
        return WorkerError(
            "fenced: another live worker, at \(twin.host), has this one's name, \(worker); give each its own kafka.instance"
        )
    }

    /// Returns the members of the live lane's group; nil where the brokers do not show them.
    static func members(_ properties: KafkaProperties, _ context: SessionContext) async -> [ConsumerGroup.Member]? {
        guard let producer = try? KafkaProducer(properties.producer, logger: context.clientLogger) else { return nil }
        let group = properties.group(of: .live)
        let groups = try? await producer.consumerGroups([group], within: .seconds(10))
        await producer.close(within: .zero)
        return groups?[group]?.members
    }
}

extension Session {
    /// Waits after a fence until new clients may be made.
    ///
    /// - Returns: false when the worker is to stop.
    /// - Throws: `WorkerError` where another live worker has this one's name.
    func outlive(_ twins: inout TwinSearch, _ elapsed: Duration) async throws -> Bool {
        guard twins.fenced(at: elapsed) == .look, let place else { return true }
        let properties = KafkaProperties(context.configuration, bootstrapServers: bootstrapServers)
        let member = properties.member(of: .live, topics: context.configuration.topics(of: .live), place: place)
        guard await pause(properties.sessionLength + .seconds(2)) else { return false }
        let members = await TwinSearch.members(properties, context)
        if let end = twins.end(members, name: member["group.instance.id"] ?? place, worker: instance) {
            throw end
        }
        return true
    }
}
