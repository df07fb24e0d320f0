import AdapterKit
import HTTPTransport
import Kafka
import Logging
import Pipeline
import Telemetry

// MARK: Apps, lanes and look-ups

extension SessionObserver {
    func raised(_ alarm: SuspensionAlarm) {
        switch alarm {
        case .suspended(let suspension) where suspension.reach == .everyone:
            logger.error(
                "app.suspended", "the vendor refuses the key that signs; the app is suspended and its events wait",
                metadata: details(suspension))
        case .suspended(let suspension):
            logger.error(
                "app.users-suspended",
                "every user of the app who was given a token refuses it; the events of these users wait",
                metadata: details(suspension))
        case .suspendedHere(let suspension):
            logger.error(
                "app.suspended-here",
                "the vendor refuses the key that signs; the app is suspended for this worker's partitions alone, because the other workers' counts cannot be read",
                metadata: details(suspension))
        case .narrowed(let suspension):
            logger.warning(
                "app.suspension-narrowed",
                "the vendor accepts the tokens of some users who tested the key; only the events of the users who refused wait",
                metadata: details(suspension))
        case .refusing(let app, let counts):
            logger.warning(
                "app.users-limited",
                "some users of the app refuse their tokens because of the key; they are limited, and nobody is suspended",
                metadata: details(app, counts))
        case .accepting(let app, let counts):
            logger.notice(
                "app.users-accepting", "the app's users accept their tokens again", metadata: details(app, counts))
        case .told(let suspension):
            let details: Logger.Metadata = [LogKey.app: "\(suspension.app)", LogKey.detail: "\(suspension.why)"]
            if suspension.cause == .paused {
                logger.warning("app.paused", "an operator paused the app; its events wait", metadata: details)
            } else {
                logger.warning(
                    "app.suspended-elsewhere", "another worker suspended the app; its events wait", metadata: details)
            }
        case .resumed(let suspension, let resumption):
            let details: Logger.Metadata = [LogKey.app: "\(suspension.app)"]
            switch resumption {
            case .probe:
                logger.notice(
                    "app.probe-accepted", "most probes' tokens were not refused; the app is resumed", metadata: details)
            case .told:
                logger.notice("app.resumed", "the app is resumed by an operator or another worker", metadata: details)
            case .elapsed:
                logger.notice(
                    "app.pause-over", "the time of the app's pause is over; its events are answered again",
                    metadata: details)
            }
        }
    }

    private func details(_ suspension: Suspension) -> Logger.Metadata {
        [
            LogKey.app: "\(suspension.app)", LogKey.users: "\(suspension.users)",
            LogKey.keyVersion: "\(suspension.keyVersion ?? "")", LogKey.detail: "\(suspension.why)",
        ]
    }

    private func details(_ app: String, _ counts: RefusalCounts) -> Logger.Metadata {
        [
            LogKey.app: "\(app)", LogKey.users: "\(counts.refusing)", LogKey.keyVersion: "\(counts.keyVersion)",
            LogKey.detail: "\(counts.refusing) of \(counts.minted.of("user refuses", "users refuse")) their tokens",
        ]
    }

    /// Shows the apps in metrics and on the admin server.
    ///
    /// - Parameter memory: the recent subjects that the worker remembers, and their bytes.
    func show(_ apps: [WorkerStatus.AppStatus], memory: (subjects: Int, bytes: Int)) {
        status.set(apps)
        metrics.set(apps, memory: memory)
    }

    func show(_ pauses: LanePauses) {
        status.set(pauses.all)
        for lane in Lane.allCases { metrics.pausedLanes.set(pauses.lanes.contains(lane) ? 1 : 0, lane.rawValue) }
    }

    func changed(_ change: LanePauses.Change) {
        func details(_ pause: LanePause) -> Logger.Metadata { [LogKey.lane: "\(pause.lane.rawValue)"] }
        switch change {
        case .paused(let pause):
            logger.warning(
                "lane.paused", "an operator paused the lane; its events stay where they are",
                metadata: details(pause).merging([LogKey.detail: "\(pause.why)"]) { first, _ in first })
        case .resumed(let pause):
            logger.notice(
                "lane.resumed", "an operator resumed the lane; its events are taken again", metadata: details(pause))
        case .elapsed(let pause):
            logger.notice(
                "lane.pause-over", "the time of the lane's pause is over; its events are taken again",
                metadata: details(pause))
        }
    }

    func measured(
        _ machine: SessionStateMachine, _ processor: BatchProcessor, refusals: [String: RefusalCounts],
        lag: [[String]: Double], at time: UnixTime
    ) {
        metrics.set(machine, at: time)
        metrics.partitions.lag.replace(lag)
        metrics.refusingUsers.replace(refusals.map { ([$0.key], Double($0.value.refusing)) })
        metrics.mintedUsers.replace(refusals.map { ([$0.key], Double($0.value.minted)) })
        let conditions = processor.lookupConditions
        metrics.lookups.set(conditions, remembered: processor.rememberedAnswers)
        let troubles = conditions.compactMap { account in account.trouble.map { "\(account.account): \($0)" } }
        status.degradations.set(.lookups, troubles.isEmpty ? nil : troubles.joined(separator: "; "))
    }

    func lookedUp(_ tally: LookupTally) {
        metrics.lookups.add(tally)
        for notice in tally.notices {
            switch notice {
            case .opened(let account, let detail):
                logger.error(
                    "vendor.unavailable",
                    "a vendor's REST API does not answer as it should; its circuit is open, and events wait",
                    metadata: details(account, detail))
            case .closed(let account, let length):
                logger.notice(
                    "vendor.available", "the vendor's REST API answers again", metadata: details(account, length))
            case .mismatched(let account, let detail):
                logger.error(
                    "vendor.answer-mismatched",
                    "a vendor's answer names another user than was asked about; it is refused, and the event waits",
                    metadata: details(account, detail))
            case .throttled(let account, let detail):
                logger.warning(
                    "vendor.throttling", "a vendor's REST API refuses every request for its rate; events wait",
                    metadata: details(account, detail))
            case .accepted(let account, let length):
                logger.notice(
                    "vendor.throttling-over", "the vendor's REST API accepts requests again",
                    metadata: details(account, length))
            case .refused(let account, let detail):
                logger.warning(
                    "vendor.user-refused", "a vendor refuses to be asked about one user",
                    metadata: details(account, detail))
            }
        }
    }

    private func details(_ account: String, _ detail: String) -> Logger.Metadata {
        [LogKey.account: "\(account)", LogKey.detail: "\(detail)"]
    }

    private func details(_ account: String, _ outage: Int64) -> Logger.Metadata {
        [LogKey.account: "\(account)", LogKey.outage: "\(Outage.text(.microseconds(outage)))"]
    }

    // MARK: Partitions

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

    func answeredLate(_ error: KafkaError) {
        logger.warning(
            "group.answered-late", "the group moved on before it was answered",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    func startsUnknown(_ lane: Lane, _ error: KafkaError) {
        logger.warning(
            "offsets.unknown", "where the partitions are to be read from is not known yet; trying again",
            metadata: [LogKey.lane: "\(lane.rawValue)", LogKey.kafkaError: "\(error)"])
    }

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

    // MARK: The control topic

    func controlRead() {
        for source in ["topic", "start"] { status.degradations.set(.control, nil, of: source) }
    }

    func controlMissing(_ topic: String) {
        status.degradations.set(.control, "the control topic \(topic) does not exist", of: "topic")
        logger.error(
            "control-topic.missing",
            "the control topic does not exist: suspensions and pauses hold for this worker alone, and end with it; create it, compacted",
            metadata: [LogKey.topic: "\(topic)"])
    }

    func controlReplaced(_ topic: String) {
        logger.error(
            "control-topic.recreated", "the control topic was deleted and created again; it is read from its start",
            metadata: [LogKey.topic: "\(topic)"])
    }

    func controlNotReadAgain(_ error: KafkaError) {
        status.degradations.set(.control, "the control topic cannot be read from its start: \(error)", of: "start")
        logger.warning(
            "control-topic.unreadable", "the control topic could not be read from its start; it is tried again",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    func controlUnwritable(_ error: KafkaError) {
        status.degradations.set(.control, "the control topic cannot be written: \(error)", of: "writing")
        logger.error(
            "control-topic.unwritable", "the control topic cannot be written",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    func controlWritten() { status.degradations.set(.control, nil, of: "writing") }

    /// Notes that a record for the fleet could not be written, and that the worker tries again.
    ///
    /// - Parameter app: the record's app; nil for a record that is not about an app.
    func controlDelayed(_ app: String?, _ error: KafkaError) {
        status.degradations.set(.control, "the control topic cannot be written: \(error)", of: "writing")
        logger.warning(
            "control-topic.write-failed", "the control topic could not be written; it is tried again",
            metadata: [LogKey.app: "\(app ?? "")", LogKey.kafkaError: "\(error)"])
    }
}
