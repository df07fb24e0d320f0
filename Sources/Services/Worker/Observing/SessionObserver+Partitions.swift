import Kafka
import Logging
import Pipeline
import Telemetry

// MARK: Partitions

extension SessionObserver {
    /// Notes that partitions of `lane` come or go.
    func rebalanced(_ lane: Lane, _ partitions: [TopicPartition], isAssignment: Bool) {
        let details: Logger.Metadata = [
            LogKey.lane: "\(lane.rawValue)", LogKey.partitions: "\(partitions.ranges)",
        ]
        guard isAssignment else {
            return logger.info("partitions.revoked", "partitions were revoked", metadata: details)
        }
        metrics.partitions.begin(partitions)
        joined(lane)
        logger.info("partitions.assigned", "partitions were assigned", metadata: details)
    }

    /// Notes the members of the groups that are no workers, each in words.
    func found(strangers: [String]) {
        let reason = strangers.isEmpty ? nil : strangers.joined(separator: "; ")
        let before = status.degradations.reasons()[.groups]
        status.degradations.set(.groups, reason)
        guard let reason, reason != before else { return }
        logger.error(
            "group.stranger",
            "a consumer that is no worker is in a group of the workers; events of its partitions get no answer",
            metadata: [LogKey.detail: "\(reason)"])
    }

    /// Notes that a group did not wait for the answer to a rebalance.
    func answeredLate(_ error: KafkaError) {
        logger.warning(
            "group.answered-late", "the group moved on before it was answered",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    /// Notes that the starts of partitions of `lane` are not known yet, and that the session asks again.
    func startsUnknown(_ lane: Lane, _ error: KafkaError) {
        logger.warning(
            "offsets.unknown", "where the partitions are to be read from is not known yet; trying again",
            metadata: [LogKey.lane: "\(lane.rawValue)", LogKey.kafkaError: "\(error)"])
    }

    /// Notes that a partition came back at an offset before this process' commit.
    func wentBack(_ partition: TopicPartition, to offset: Int64, from committed: Int64) {
        logger.error(
            "offsets.went-back",
            "the group went back to before what this worker committed; unless its offsets were reset, the brokers lost a commit, and events are answered twice",
            metadata: [
                LogKey.partitions: "\(partition)",
                LogKey.committedOffset: "\(committed)", LogKey.offset: "\(offset)",
            ])
        metrics.partitions.wentBack(partition)
        degrade("the group went back on \(partition)")
    }

    /// Notes that the record batch at `place` could not be unpacked several times, so that its partition stands still.
    func batchFailed(_ error: KafkaError, at place: RecordPosition, _ lane: Lane) {
        logger.error(
            "batch.unreadable",
            "a record batch cannot be unpacked; no event behind it is answered until the worker has passed it",
            metadata: details(place, lane).merging([LogKey.kafkaError: "\(error)"]) { first, _ in first })
    }

    /// Notes that the worker passes `batch`, which becomes a dead letter by reference.
    func passed(_ batch: UnreadableBatch, _ lane: Lane) {
        let partition = TopicPartition(batch.first)
        logger.error(
            "batch.passed",
            "a record batch that cannot be unpacked is passed; its events are never answered, and a dead letter has its offsets",
            metadata: details(batch.first, lane).merging([LogKey.records: "\(batch.end - batch.first.offset)"]) {
                first, _ in first
            })
        metrics.partitions.passedBatch(partition)
        degrade("a record batch at offset \(batch.first.offset) of \(partition) was passed")
    }

    private func details(_ place: RecordPosition, _ lane: Lane) -> Logger.Metadata {
        [
            LogKey.lane: "\(lane.rawValue)", LogKey.partitions: "\(TopicPartition(place))",
            LogKey.offset: "\(place.offset)",
        ]
    }

    /// Marks the records as degraded for as long as the alerts about them last.
    private func degrade(_ reason: String) {
        status.degradations.set(.records, reason, of: "partitions", for: Degradations.memoryOfRecords)
    }

    /// Notes the start of a partition, which may be out of the ordinary.
    func started(_ partition: TopicPartition, at start: PartitionStart, group: String) {
        let details: Logger.Metadata = [
            LogKey.partitions: "\(partition)", LogKey.offset: "\(start.offset)",
        ]
        let remedy =
            "kafka-consumer-groups.sh --group \(group) --topic \(partition.topic):\(partition.partition) --reset-offsets --to-earliest --execute"
        switch start.reason {
        case .fresh, .resumed: break
        case .lost(let count):
            logger.error(
                "records.lost", "records were deleted before they were read; their events are never answered",
                metadata: details.merging([LogKey.records: "\(count)"]) { first, _ in first })
            metrics.partitions.lost(count, partition)
            degrade("\(count) records of \(partition) were deleted before they were read")
        case .beyondEnd:
            logger.error(
                "partition.truncated",
                "the log ends before the committed offset; the worker goes on at its end, and answers none of the retained records again",
                metadata: details.merging([
                    LogKey.detail: "to answer them: stop the workers, then \(remedy)"
                ]) { first, _ in first })
            metrics.partitions.regressed(.truncated, partition)
            degrade("the log of \(partition) ends before the committed offset")
        case .replaced:
            logger.error(
                "partition.recreated", "the topic was deleted and created again; the worker reads it from its start",
                metadata: details)
            metrics.partitions.regressed(.replaced, partition)
            degrade("the topic of \(partition) was created again")
        }
    }

    /// Notes that a partition's log is not the one that was read, so that another session follows.
    func logReplaced(_ why: String) {
        logger.error(
            "partition.replaced",
            "a partition's log is not the one that was read; the worker decides again where to start",
            metadata: [LogKey.detail: "\(why)"])
        status.set(.worker, "it decides again where to start: \(why)")
    }
}
