import AdapterKit
import Kafka
import Pipeline
import ServiceLifecycle
import Wiring
import WorkerConfiguration

// MARK: Taking

extension SessionLoop {
    /// The most events taken at once from a lane whose partitions are paused. They are rebalances and errors, never
    /// many.
    private static let newsAtOnce = 100

    /// Consumes the records that are present and may be consumed.
    ///
    /// - Returns: whether there may be more at once.
    mutating func take() async throws(KafkaError) -> Bool {
        var hasMore = false
        for lane in Lane.allCases {
            let consumer = lanes.consumers[lane]
            // A worker that takes nothing must not seem gone, or the group gives its partitions away during a commit.
            await consumer.keepAlive()
            let limit: Int
            switch machine.intake(lane) {
            case .nothing: continue
            case .news:
                try await watch.apply(.everything, to: consumer, lane)
                limit = Self.newsAtOnce
            case .records(let count, let paused):
                try await watch.apply(.some(paused), to: consumer, lane)
                limit = count
            }
            let taken = await lanes.take(limit, of: lane)
            hasMore = hasMore || limit > 0 && taken.count == limit
            try handle(taken, lane)
        }
        return hasMore
    }

    mutating func handle(_ taken: LaneConsumers.Taken, _ lane: Lane) throws(KafkaError) {
        for event in taken.others {
            switch event {
            case .record: break
            case .endOfPartition(let partition, let end): machine.reached(end, of: partition, on: lane)
            case .rebalance(let rebalance): rebalancing(SessionStateMachine.Rebalance(rebalance), lane)
            case .error(let error): try handle(error, lane)
            }
        }
        let records = batches[lane].passing(taken.records, lane)
        guard !records.isEmpty else { return }
        for regression in committed.regressions(in: records) {
            observer.wentBack(regression.partition, to: regression.offset, from: regression.committed)
        }
        if records.count > taken.records.count { passed(records, lane) }
        observer.took(taken.records.count, lane)
        // Retries are dated by workers, perhaps by this one.
        if lane == .live, let time = taken.time, time.milliseconds > clockSample.record?.milliseconds ?? .min {
            clockSample.record = time
        }
        marks.took(taken.records)
        machine.received(records, on: lane, at: context.now())
    }

    private mutating func handle(_ error: KafkaError, _ lane: Lane) throws(KafkaError) {
        guard !error.isFatal else { throw error }
        if error.code == .positionOutOfRange { return reopen("\(error)") }
        if let place = error.batch { return failed(error, at: place, lane) }
        context.reachability.noted(error)
        observer.consumerFailed(error, lane)
    }

    // MARK: Rebalances

    /// Begins a rebalance. What must be known before partitions are taken over is asked in the background.
    private mutating func rebalancing(_ rebalance: SessionStateMachine.Rebalance, _ lane: Lane) {
        let isPrepared = !rebalance.isAssignment || rebalance.partitions.isEmpty
        machine.rebalancing(lane, rebalance, isPrepared: isPrepared)
        rebalances[lane] += 1
        forgetBatches(of: rebalance.partitions, lane)
        if !isPrepared { lookUp(rebalance.partitions, lane) }
    }

    /// - Throws: `KafkaError` where it is not known where assigned partitions are to be read from.
    mutating func answer(_ lane: Lane, _ rebalance: SessionStateMachine.Rebalance) async throws(KafkaError) {
        let partitions = rebalance.partitions
        var isAnswered = true
        var starts: [TopicPartition: PartitionStart] = [:]
        if case .assigned = rebalance, !partitions.isEmpty {
            starts = try self.starts(of: partitions, lane)
            committed.assigned(partitions)
            assignments += 1
        } else {
            marks.drop(partitions)
            lag.drop(partitions)
            publishing.gavePartitionsUp()
        }
        observer.rebalanced(lane, partitions, isAssignment: rebalance.isAssignment)
        do throws(KafkaError) {
            try await lanes.consumers[lane].answer(Rebalance(rebalance), from: starts.mapValues(\.offset))
        } catch {
            observer.answeredLate(error)
            starts = [:]
            isAnswered = false
        }
        machine.answered(lane, from: starts.mapValues(\.offset))
        watch.forget(lane)
        try await settle(starts, lane)
        if isAnswered, lane == .live, renewal == nil, !Task.isShuttingDownGracefully,
            rebalance.isBeginning(with: starts.count)
        {
            begin?()
            begin = nil
        }
    }
}

extension SessionStateMachine.Rebalance {
    /// Returns whether a worker consumes after it answered with the starts of `count` partitions. Without the start of a partition,
    /// the assignment is lost, or the worker stops. A worker that gets no partition, because the group has more members than
    /// partitions, consumes too.
    func isBeginning(with count: Int) -> Bool { isAssignment && partitions.count == count }

    init(_ rebalance: Rebalance) {
        switch rebalance.kind {
        case .assigned: self = .assigned(rebalance.partitions)
        case .revoked(let isLost): self = isLost ? .lost(rebalance.partitions) : .revoked(rebalance.partitions)
        }
    }
}

extension Rebalance {
    init(_ rebalance: SessionStateMachine.Rebalance) {
        switch rebalance {
        case .assigned(let partitions): self.init(kind: .assigned, partitions: partitions)
        case .revoked(let partitions): self.init(kind: .revoked(isLost: false), partitions: partitions)
        case .lost(let partitions): self.init(kind: .revoked(isLost: true), partitions: partitions)
        }
    }
}

// MARK: Where partitions are read from

extension SessionLoop {
    static let logInterval = Duration.seconds(30)

    /// Begins to ask where the partitions that `lane` was assigned are read from. The answer to the group waits for it.
    func lookUp(_ partitions: [TopicPartition], _ lane: Lane) {
        let lookup = StartLookup(
            lane: lane, consumer: lanes.consumers[lane], logs: logs, versions: versions, context: context)
        background.addTask { [findings, wakeup = lanes.wakeup, number = rebalances[lane]] in
            findings[lane].put((number, await lookup.run(partitions)))
            wakeup.signal()
        }
    }

    mutating func takeFindings() {
        for lane in Lane.allCases {
            // Another member may have committed since an earlier assignment, so its offsets are of no use.
            guard let (number, finding) = findings[lane].take(), number == rebalances[lane] else { continue }
            found[lane] = finding
            machine.prepared(lane)
        }
    }

    /// Decides where `partitions` are read from, and raises the versions above their committed ones.
    ///
    /// - Returns: the starts; none where the group moved on meanwhile or the worker stops, so that nothing is read.
    /// - Throws: `KafkaError` where the brokers did not answer in time.
    mutating func starts(
        of partitions: [TopicPartition], _ lane: Lane
    ) throws(KafkaError) -> [TopicPartition: PartitionStart] {
        defer { found[lane] = nil }
        switch found[lane] {
        case .answers(let answers?): return decide(answers)
        case .answers(nil), nil: return [:]
        case .failed(let error): throw error
        }
    }

    private mutating func decide(_ answers: StartLookup.Answers) -> [TopicPartition: PartitionStart] {
        let committed = Dictionary(answers.committed.map { ($0.partition, $0) }) { first, _ in first }
        if let floor = answers.floor { processor.raiseVersions(above: floor) }
        var starts: [TopicPartition: PartitionStart] = [:]
        for (partition, view) in answers.views {
            let metadata = committed[partition].flatMap { self.metadata(of: $0) }
            if let version = metadata?.version { processor.raiseVersions(above: version) }
            let facts = PartitionStart.Facts(
                bounds: view.bounds, first: view.first, committed: committed[partition]?.offset,
                mark: metadata?.mark, committedAt: metadata?.committedAt,
                former: self.committed.former(partition, marks.former(partition), seenUntil: lastLogLook))
            starts[partition] = PartitionStart(facts)
            marks.begin(partition, first: view.first)
            lag.begin(partition, at: starts[partition]?.offset ?? view.bounds.upperBound, end: view.bounds.upperBound)
        }
        return starts
    }

    /// Returns the metadata that a worker committed with `offset`; nil where there is none that can be believed.
    private func metadata(of offset: PartitionOffset) -> CommitMetadata? {
        guard let text = offset.metadata else { return nil }
        do throws(RecordFault) { return try CommitMetadata(text, at: context.now()) } catch {
            let partition = offset.partition
            context.unreadable.count(
                error, .offsets,
                at: RecordPosition(topic: partition.topic, partition: partition.partition, offset: offset.offset))
            return nil
        }
    }

    /// Commits the starts that must be committed, and logs unusual ones. A start that could not be committed is not
    /// logged: the partition's next worker decides again and logs it.
    ///
    /// - Throws: `KafkaError` where the offset that the worker continues from could not be committed.
    mutating func settle(
        _ starts: [TopicPartition: PartitionStart], _ lane: Lane
    ) async throws(KafkaError) {
        for (partition, start) in starts where start.isFormerOver { committed.forget(partition) }
        let time = context.now()
        let offsets = starts.filter(\.value.isToBeCommitted).map { partition, start in
            let metadata = CommitMetadata(
                version: processor.highestVersion(throughBatch: 0), mark: marks.all[partition], committedAt: time)
            return PartitionOffset(partition, offset: start.offset, metadata: metadata.text)
        }
        guard !offsets.isEmpty else { return }
        do throws(KafkaError) { try await lanes.consumers[lane].commit(offsets) } catch {
            // Another assignment follows, which decides again.
            let isMovingOn = [.rebalanceInProgress, .illegalGeneration, .unknownMemberID].contains(error.code)
            guard isMovingOn else { throw error }
            return
        }
        for (partition, start) in starts { observer.started(partition, at: start, group: group(lane)) }
    }

    private func group(_ lane: Lane) -> String {
        let group = context.configuration.kafka.group
        return lane == .live ? group : "\(group)-\(lane.rawValue)"
    }

    // MARK: Logs that change while they are read

    /// Checks in the background, every half a minute, whether a topic was created again under its name.
    mutating func watchLogs() async {
        if let views = logViews.take() { compare(views) }
        guard !isLookingAtLogs, .now >= nextLogLook, !isReopening else { return }
        let round = assignments
        var partitions = PerLane { _ in [TopicPartition]() }
        for lane in Lane.allCases {
            partitions[lane] = Array(await lanes.consumers[lane].assignedPartitions)
        }
        isLookingAtLogs = true
        background.addTask { [logs, logViews, lanes, partitions, context, properties] in
            let time = context.now()
            var starts: [TopicPartition: Int64] = [:]
            for lane in Lane.allCases {
                let bounds = try? await lanes.consumers[lane].bounds(
                    of: partitions[lane], within: PartitionLogs.timeout)
                for (partition, bounds) in bounds ?? [:] where !bounds.isEmpty { starts[partition] = bounds.lowerBound }
            }
            // A partition that cannot be checked now is checked next time, or when it is assigned.
            let firsts = (try? await logs.firsts(of: starts)) ?? [:]
            logViews.put(LogViews(firsts: firsts, at: time, assignments: round))
            await Self.lookForStrangers(lanes, properties, context.observer)
        }
    }

    /// Looks for members of the lanes' groups that are no workers, unless the brokers do not show the groups.
    private static func lookForStrangers(
        _ lanes: LaneConsumers, _ properties: KafkaProperties, _ observer: SessionObserver
    ) async {
        var found: [String] = []
        for lane in Lane.allCases {
            let name = properties.group(of: lane)
            let groups = try? await lanes.consumers[lane].consumerGroups([name], within: PartitionLogs.timeout)
            guard let group = groups?[name] else { return }
            found += properties.strangers(among: group.members, of: lane).map { $0.strangerText(in: name) }
        }
        observer.found(strangers: found)
    }

    private mutating func compare(_ views: LogViews) {
        isLookingAtLogs = false
        nextLogLook = .now + Self.logInterval
        defer { lastLogLook = views.at }
        // Partitions that came meanwhile were looked at later than this.
        guard views.assignments == assignments else { return }
        let replaced = marks.replaced(views.firsts, seenUntil: lastLogLook ?? views.at)
        guard !replaced.isEmpty else { return }
        let names = replaced.map(\.description).joined(separator: ", ")
        reopen("topics were created again under their names: \(names)")
    }

    /// Ends the session once its settled events are committed: the next one decides again where each partition is read
    /// from.
    mutating func reopen(_ why: String) {
        if !isReopening { observer.logReplaced(why) }
        beginReopening()
    }

    /// Ends the session as `reopen` does, after this machine's clock was set: versions are times, and the next session reads
    /// them back by the new time.
    mutating func rereadVersions() {
        if !isReopening { observer.clockWasSet() }
        beginReopening()
    }

    private mutating func beginReopening() {
        guard !isReopening else { return }
        isReopening = true
        beginRenewal()
    }
}

/// The first records of the assigned partitions' logs at one moment.
struct LogViews: Sendable {
    let firsts: [TopicPartition: LogMark]
    let at: UnixTime
    let assignments: Int
}

// MARK: Record batches that cannot be unpacked

struct BatchEnd: Sendable {
    let place: RecordPosition
    let rebalance: Int
    /// The offset behind the batch; nil where it was not found.
    let end: Int64?
}

extension SessionLoop {
    /// Reacts to the error of the record batch at `place`.
    mutating func failed(_ error: KafkaError, at place: RecordPosition, _ lane: Lane) {
        context.reachability.noted(error)
        switch batches[lane].failed(at: place, "\(error)") {
        case .wait: break
        case .seek(let offset): seeks[lane].append(PartitionOffset(TopicPartition(place), offset: offset))
        case .find:
            observer.batchFailed(error, at: place, lane)
            background.addTask { [batchEnd, batchEnds, observer, wakeup = lanes.wakeup, number = rebalances[lane]] in
                var end: Int64?
                do throws(KafkaError) { end = try await batchEnd(place) } catch { observer.consumerFailed(error, lane) }
                batchEnds[lane].add(BatchEnd(place: place, rebalance: number, end: end))
                wakeup.signal()
            }
        }
        showBatches()
    }

    /// Continues behind the batches whose ends were found. Each becomes a record of its own, whose dead letter and offset are
    /// committed like any other's.
    mutating func passBatches() async {
        for lane in Lane.allCases {
            for found in batchEnds[lane].take() ?? [] where found.rebalance == rebalances[lane] { pass(found, lane) }
            let offsets = seeks[lane]
            guard !offsets.isEmpty else { continue }
            seeks[lane] = []
            // The library returns to a batch that it could not leave, and reports it again.
            do throws(KafkaError) { try await lanes.consumers[lane].seek(to: offsets) } catch {
                observer.consumerFailed(error, lane)
            }
        }
    }

    private mutating func pass(_ found: BatchEnd, _ lane: Lane) {
        let partition = TopicPartition(found.place)
        guard let start = machine.frontier(of: partition, on: lane),
            let batch = batches[lane].found(found.end, of: found.place, from: start)
        else { return }
        seeks[lane].append(PartitionOffset(partition, offset: batch.end))
        let record = InputRecord(batch, lane: lane)
        passed([record], lane)
        machine.received([record], on: lane, at: context.now())
    }

    /// Reports the batches among `records`.
    mutating func passed(_ records: [InputRecord], _ lane: Lane) {
        for batch in records.lazy.compactMap(\.batch) { observer.passed(batch, lane) }
        showBatches()
    }

    mutating func forgetBatches(of partitions: [TopicPartition], _ lane: Lane) {
        batches[lane].forget(partitions)
        showBatches()
    }

    private func showBatches() { observer.showBatches(Lane.allCases.flatMap { batches[$0].problems }) }
}
