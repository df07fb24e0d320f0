import AdapterKit
import HTTPTransport
import Kafka
import Logging
import Pipeline
import Telemetry
import Wiring
import WorkerConfiguration

/// The parts that a session gets, and the receivers of its reports.
struct SessionContext: Sendable {
    /// The configuration that the worker was started with: brokers, topics, delivery guarantee.
    let configuration: Configuration
    let signer: any SigningPort
    /// The client of the vendors' look-ups; nil if no app has look-ups.
    let lookups: (any LookupPort)?
    let status: WorkerStatus
    let metrics: WorkerMetrics
    /// Counts records that were read back and are not valid.
    let unreadable: UnreadableRecords
    let reachability: Reachability
    let logger: Logger
    let now: @Sendable () -> UnixTime
    /// Called with every transaction's outcomes once they are visible.
    let observe: (@Sendable ([Settlement]) -> Void)?
    /// The tracing of events; nil for none.
    var tracing: EventTracing?
    /// The source of new configurations; nil for none.
    var reloader: Reloader?

    /// The effective configuration.
    var running: Configuration { reloader?.running.current ?? configuration }

    /// Reports a transaction that is visible.
    func committed(_ transaction: CommitUnit) {
        metrics.committed(transaction, at: now())
        observe?(transaction.batches.flatMap(\.settlements))
    }

    /// Writes the spans of a commit that ended into the traces of its events.
    func trace(_ unit: CommitUnit, _ result: CommitResult, from start: UnixTime, to end: UnixTime) {
        guard let tracing else { return }
        let topic = { configuration.topic(for: $0) }
        if case .committed(let unit) = result {
            tracing.ended(unit, failure: nil, from: start, to: end, topic: topic)
        } else {
            tracing.ended(unit, failure: result.name, from: start, to: end, topic: topic)
        }
    }

    /// Logs that a topic cannot be written; with nil, that all can be written again.
    func blocked(_ blockage: Blockage?) {
        guard let blockage else {
            status.set(.publishing, nil)
            logger.notice("the topics can be written again; events are taken again")
            return
        }
        status.set(.publishing, "the topic \(blockage.topic) cannot be written: \(blockage.error)")
        logger.error(
            "a topic cannot be written; nothing is consumed or committed until it can",
            metadata: [LogKey.topic: "\(blockage.topic)", LogKey.kafkaError: "\(blockage.error)"])
    }

    /// Logs a partition that came back at an offset before this process's commit.
    func report(_ setback: CommittedOffsets.OffsetRegression) {
        logger.error(
            "the group went back to before what this worker committed; unless its offsets were reset, the brokers lost a commit, and events are answered twice",
            metadata: [
                LogKey.partitions: "\(setback.partition.topic)[\(setback.partition.partition)]",
                LogKey.committedOffset: "\(setback.committed)", LogKey.offset: "\(setback.offset)",
            ])
        metrics.wentBack(topic: setback.partition.topic, partition: setback.partition.partition)
    }

    /// Reports a start of a partition that is out of the ordinary.
    func report(_ start: PartitionStart, of partition: TopicPartition, group: String) {
        let details: Logger.Metadata = [
            LogKey.partitions: "\(partition.topic)[\(partition.partition)]", LogKey.offset: "\(start.offset)",
        ]
        let remedy =
            "kafka-consumer-groups.sh --group \(group) --topic \(partition.topic):\(partition.partition) --reset-offsets --to-earliest --execute"
        switch start.reason {
        case .fresh, .resumed: break
        case .lost(let count):
            logger.error(
                "records were deleted before they were read; their events are never answered",
                metadata: details.merging([LogKey.records: "\(count)"]) { first, _ in first })
            metrics.lost(count, topic: partition.topic, partition: partition.partition)
        case .beyondEnd:
            logger.error(
                "the log ends before the committed offset; the worker goes on at its end, and answers none of the retained records again",
                metadata: details.merging([
                    LogKey.detail: "to answer them: stop the workers, then \(remedy)"
                ]) { first, _ in first })
            metrics.regressed(.truncated, topic: partition.topic, partition: partition.partition)
        case .replaced:
            logger.error(
                "the topic was deleted and created again; the worker reads it from its start", metadata: details)
            metrics.regressed(.replaced, topic: partition.topic, partition: partition.partition)
        }
    }

    /// Logs an alarm for the operator.
    func raise(_ alarm: BatchProcessor.Alarm) {
        switch alarm {
        case .suspended(let suspension):
            logger.error(
                suspension.reach == .everyone
                    ? "the vendor refuses the key that signs; the app is suspended and its events wait"
                    : "every user of the app who was given a token refuses it; the events of these users wait",
                metadata: details(suspension))
        case .suspendedHere(let suspension):
            logger.error(
                "the vendor refuses the key that signs; the app is suspended for this worker's partitions alone, because the other workers' counts cannot be read",
                metadata: details(suspension))
        case .refusing(let app, let counts):
            logger.warning(
                "some users of the app refuse their tokens because of the key; they are limited, and nobody is suspended",
                metadata: details(app, counts))
        case .accepting(let app, let counts):
            logger.notice("the app's users accept their tokens again", metadata: details(app, counts))
        case .told(let suspension):
            logger.warning(
                suspension.cause == .paused
                    ? "an operator paused the app; its events wait"
                    : "another worker suspended the app; its events wait",
                metadata: [LogKey.app: "\(suspension.app)", LogKey.detail: "\(suspension.why)"])
        case .resumed(let suspension, let resumption):
            let details: Logger.Metadata = [LogKey.app: "\(suspension.app)"]
            switch resumption {
            case .probe: logger.notice("the probe's token was not refused; the app is resumed", metadata: details)
            case .told: logger.notice("the app is resumed by an operator or another worker", metadata: details)
            case .elapsed:
                logger.notice("the time of the app's pause is over; its events are answered again", metadata: details)
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
            LogKey.detail: "\(counts.refusing) of \(counts.minted) users refuse their tokens",
        ]
    }

    /// Logs that a lane is paused or resumed.
    func raise(_ change: LanePauses.Change) {
        func details(_ pause: LanePause) -> Logger.Metadata { [LogKey.lane: "\(pause.lane.rawValue)"] }
        switch change {
        case .paused(let pause):
            logger.warning(
                "an operator paused the lane; its events stay where they are",
                metadata: details(pause).merging([LogKey.detail: "\(pause.why)"]) { first, _ in first })
        case .resumed(let pause):
            logger.notice("an operator resumed the lane; its events are taken again", metadata: details(pause))
        case .elapsed(let pause):
            logger.notice("the time of the lane's pause is over; its events are taken again", metadata: details(pause))
        }
    }

    /// Shows the paused lanes in metrics and on the admin server.
    func show(_ pauses: LanePauses) {
        status.set(pauses.all)
        metrics.set(paused: pauses.lanes)
    }

    /// Writes the current state into the metrics.
    func report(_ flow: SessionStateMachine, _ processor: BatchProcessor, lag: [[String]: Double]) {
        showApps(processor)
        metrics.set(flow, at: now())
        metrics.set(lag: lag)
        metrics.set(status.problems)
        metrics.set(processor.lookupConditions, remembered: processor.rememberedAnswers)
    }

    /// Counts and logs the look-ups since the last report.
    func report(_ tally: LookupTally) {
        metrics.add(tally)
        for notice in tally.notices {
            switch notice {
            case .opened(let account, let detail):
                logger.error(
                    "a vendor's REST API does not answer as it should; its circuit is open, and events wait",
                    metadata: [LogKey.account: "\(account)", LogKey.detail: "\(detail)"])
            case .closed(let account, let length):
                let outage = Outage.text(.microseconds(length))
                logger.notice(
                    "the vendor's REST API answers again",
                    metadata: [LogKey.account: "\(account)", LogKey.outage: "\(outage)"])
            case .mismatched(let account, let detail):
                logger.error(
                    "a vendor's answer names another user than was asked about; it is refused, and the event waits",
                    metadata: [LogKey.account: "\(account)", LogKey.detail: "\(detail)"])
            case .refused(let account, let detail):
                logger.warning(
                    "a vendor refuses to be asked about one user",
                    metadata: [LogKey.account: "\(account)", LogKey.detail: "\(detail)"])
            }
        }
    }

    /// Shows the apps in metrics and on the admin server.
    func showApps(_ processor: BatchProcessor) {
        let suspensions = Dictionary(processor.suspensions.map { ($0.app, $0) }) { first, _ in first }
        let apps = running.apps.map { app in
            WorkerStatus.AppStatus(
                name: app.name, adapter: app.adapter.name, keyRing: app.key,
                keyVersion: signer.activeKey(of: app.key)?.version, suspension: suspensions[app.name])
        }
        status.set(apps)
        metrics.set(apps, memory: processor.memory)
    }
}
