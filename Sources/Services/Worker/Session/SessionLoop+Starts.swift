import AdapterKit
import Kafka
import Pipeline
import ServiceLifecycle
import Wiring
import WorkerConfiguration

// MARK: Where partitions are read from

extension SessionLoop {
    /// The interval between two checks of the logs of running partitions.
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

    /// Collects the findings about assigned partitions.
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
    /// The moment before the first question.
    let at: UnixTime
    /// The number of assignments by then.
    let assignments: Int
}
