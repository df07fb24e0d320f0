import AdapterKit
import HTTPTransport
import Kafka
import Logging
import Pipeline
import Synchronization
import Telemetry
import WorkerConfiguration

/// The one receiver of what happens in the sessions of a worker. It has a method for each event, which writes the log,
/// sets the status and counts the metrics. It decides nothing, and a session writes none of the three itself.
///
/// It outlives the sessions. Each method concerns a batch, a unit or a partition, and none is called for a single event.
final class SessionObserver: Sendable {
    let status: WorkerStatus
    let metrics: WorkerMetrics
    let logger: Logger
    private let observe: (@Sendable ([Settlement]) -> Void)?
    private let tracing: EventTracing?
    private let topic: @Sendable (OutputRecord.Destination) -> String
    /// The outcomes since the last lines about them, and the limit on these.
    private let outcomes = Mutex((log: OutcomeLog(), limit: RepeatLimit()))
    private let start = ContinuousClock.now
    private let unread = Mutex<(lanes: [Lane: KafkaError], batches: [String])>(([:], []))

    /// - Parameters:
    ///   - tracing: The tracing of events; nil for none.
    ///   - topic: Returns the topic of a destination.
    ///   - observe: Called with every unit's outcomes once they are visible.
    init(
        status: WorkerStatus, metrics: WorkerMetrics, logger: Logger, tracing: EventTracing? = nil,
        topic: @escaping @Sendable (OutputRecord.Destination) -> String,
        observe: (@Sendable ([Settlement]) -> Void)? = nil
    ) {
        self.status = status
        self.metrics = metrics
        self.logger = logger
        self.tracing = tracing
        self.topic = topic
        self.observe = observe
    }

    // MARK: The loop

    func beat(_ step: String) { status.beat(step) }

    func waited() { status.beat("it waits for the brokers") }

    func advanced() { status.advanced() }

    func looked(at waiting: SessionProgress.Waiting, _ step: String) {
        let (before, problem) = status.look(at: waiting, step)
        if let problem, before == nil {
            logger.error(
                "events.standing", "events wait, and none is settled; none is lost",
                metadata: [LogKey.detail: "\(problem)"])
        } else if before != nil, problem == nil {
            logger.notice("events.moving", "events are settled again, or none waits")
        }
    }

    func stopping() { status.set(.worker, "it is stopping", isFault: false) }

    /// Notes that the worker enters or leaves quiet mode.
    ///
    /// - Parameter isBegun: Whether the session has had its first live partitions.
    func changed(isQuiet: Bool, isBegun: Bool) {
        let reason = isBegun ? nil : WorkerStatus.starting
        let problem = isQuiet ? "it is quiet: it takes nothing new; SIGUSR1 ends that" : reason
        status.set(.worker, problem, isFault: false)
        if isQuiet {
            logger.notice("worker.quiet", "quiet: nothing new is taken")
        } else {
            logger.notice("worker.quiet-over", "no longer quiet: events are taken again")
        }
    }

    /// Logs the outcomes since the last lines: an operator wants a few lines a minute and not one for each unit.
    ///
    /// - Parameter isLast: whether the session ends, so that no later line can have them.
    func logOutcomes(isLast: Bool = false, at now: ContinuousClock.Instant = .now) {
        let outcomes = outcomes.withLock { outcomes -> OutcomeLog? in
            guard !outcomes.log.isEmpty else { return nil }
            if !isLast, case .repeated = outcomes.limit.verdict(on: "outcomes", at: now - start) { return nil }
            defer { outcomes.log = OutcomeLog() }
            return outcomes.log
        }
        outcomes?.log(to: logger)
    }

    // MARK: Work

    /// Notes that `count` records of `lane` were taken, so that its topics can be read.
    func took(_ count: Int, _ lane: Lane) {
        if status.problems[.topics] != nil { setUnread(nil, lane) }
        metrics.events.add(count, lane.rawValue)
    }

    func setUnread(_ error: KafkaError?, _ lane: Lane) {
        showUnread { $0.lanes[lane] = error }
    }

    func showBatches(_ reasons: [String]) {
        // Called at every rebalance, when other reasons may be shown.
        if unread.withLock({ $0.batches != reasons }) { showUnread { $0.batches = reasons } }
    }

    private func showUnread(_ change: (inout (lanes: [Lane: KafkaError], batches: [String])) -> Void) {
        unread.withLock { unread in
            change(&unread)
            let lanes = Lane.allCases.compactMap { lane in
                unread.lanes[lane].map { error in
                    error.code.isJoinRefused
                        ? "the group refuses the worker on the \(lane.rawValue) lane: \(error)"
                        : "the \(lane.rawValue) lane's topics cannot be read: \(error)"
                }
            }
            let reasons = lanes + unread.batches
            status.set(.topics, reasons.isEmpty ? nil : reasons.joined(separator: "; "))
        }
    }

    /// Notes that `lane` has joined its group, so that a refusal of the group is over.
    func joined(_ lane: Lane) {
        let code = unread.withLock { $0.lanes[lane]?.code }
        if code == .groupAuthorizationFailed || code?.isJoinRefused ?? false { setUnread(nil, lane) }
    }

    func forgetUnread() {
        showUnread { $0 = ([:], []) }
    }

    func processed(_ batch: Batch, seconds: Double) { metrics.processed(batch, seconds: seconds) }

    /// Notes that the commit of `unit` finished, in the background: the log and the metrics of thousands of events are
    /// prepared while the loop processes the next ones.
    ///
    /// - Parameters:
    ///   - start: the time of day at which it began.
    ///   - end: the time of day at which it finished.
    ///   - length: the time that it took, by a clock that nobody sets.
    func commitEnded(
        _ unit: CommitUnit, _ result: CommitResult, from start: UnixTime, to end: UnixTime, in length: Duration
    ) {
        metrics.transactionTime.observe(length / .seconds(1))
        metrics.transactions.add(1, result.name)
        guard case .committed(let unit) = result else {
            tracing?.ended(unit, failure: result.name, from: start, to: end, topic: topic)
            return
        }
        tracing?.ended(unit, failure: nil, from: start, to: end, topic: topic)
        metrics.committed(unit, at: end)
        observe?(unit.batches.flatMap(\.settlements))
        let ended = OutcomeLog(unit)
        outcomes.withLock { $0.log.add(ended) }
    }

    /// Notes that the loop knows of a committed unit. At least once, a blockage is waited for within a commit, which may
    /// have been given up.
    func committed() {
        if status.problems[.publishing] != nil { unblocked() }
    }

    /// Notes that a transaction was aborted.
    ///
    /// - Parameter isRepeated: whether transaction after transaction is aborted for this reason, so that the worker is not
    ///   ready, whatever the reason is.
    func aborted(_ error: KafkaError, isRepeated: Bool) {
        if isRepeated {
            status.set(.publishing, "every transaction is aborted: \(error)")
            logger.error(
                "transactions.failing",
                "every transaction is aborted for the same reason; no event is answered until it is fixed",
                metadata: Self.details(ofAbort: error))
        }
        logger.warning(
            "transaction.aborted", "a transaction was aborted; its events are taken again",
            metadata: Self.details(ofAbort: error))
    }

    private static func details(ofAbort error: KafkaError) -> Logger.Metadata {
        var details: Logger.Metadata = [LogKey.kafkaError: "\(error)"]
        if error.code == .invalidTimestamp {
            details[LogKey.detail] =
                "the brokers refuse records dated by this machine's clock: set the clock, or allow its difference on the topics (message.timestamp.after.max.ms, message.timestamp.before.max.ms)"
        }
        return details
    }

    func clockWasSet() {
        status.set(.worker, "it reads the versions of tokens again: this machine's clock was set")
        logger.warning("clock.set", "this machine's clock was set; the versions of tokens are read again")
    }

    func compared(_ result: ClockWatch.Result) {
        status.set(.clock, result.problem, isFault: false)
        status.set(isClockCompared: result.isCompared)
        metrics.clockOffset.replace(result.offsets.map { ([$0.key.rawValue], $0.value) })
        for notice in result.notices {
            switch notice {
            case .differs(let detail):
                logger.error(
                    "clock.wrong", "this clock and others differ; tokens are dated by a wrong time",
                    metadata: [LogKey.detail: "\(detail)"])
            case .agrees(let length):
                logger.notice(
                    "clock.right", "this clock and others agree again",
                    metadata: [LogKey.outage: "\(Outage.text(length))"])
            case .eventsAreAhead(let detail):
                logger.warning(
                    "events.dated-ahead",
                    "live events are dated later than this clock; a producer's clock or this one is wrong",
                    metadata: [LogKey.detail: "\(detail)"])
            }
        }
    }

    func blocked(_ blockage: Blockage) {
        status.set(.publishing, "the topic \(blockage.topic) cannot be written: \(blockage.error)")
        logger.error(
            "topic.unwritable", "a topic cannot be written; nothing is consumed or committed until it can",
            metadata: [LogKey.topic: "\(blockage.topic)", LogKey.kafkaError: "\(blockage.error)"])
    }

    func stillBlocked(_ topic: String, _ error: KafkaError) {
        logger.warning(
            "topic.still-unwritable", "the topic still cannot be written",
            metadata: [LogKey.topic: "\(topic)", LogKey.kafkaError: "\(error)"])
    }

    func unblocked() {
        status.set(.publishing, nil)
        logger.notice("topics.writable", "the topics can be written again; events are taken again")
    }

    func offsetsRefused(_ lane: Lane, _ error: KafkaError) {
        logger.warning(
            "offsets.uncommitted", "offsets could not be committed; they are tried again",
            metadata: [LogKey.lane: "\(lane.rawValue)", LogKey.kafkaError: "\(error)"])
    }

    // MARK: Brokers, topics and the clients of a session

    func throttled(_ throttle: Duration, _ quota: BrokerQuota.Look) {
        metrics.throttle.set(throttle / .seconds(1))
        guard quota.isNew || throttle > .zero else { return }
        let seconds = "\((throttle / .milliseconds(100)).rounded() / 10) s"
        status.degradations.set(
            .brokers, quota.isThrottled ? "a quota of the brokers makes the worker wait, of late for \(seconds)" : nil)
        guard quota.isNew else { return }
        if quota.isThrottled {
            logger.warning(
                "brokers.throttling", "a quota of the brokers makes the worker wait; commits get smaller",
                metadata: [LogKey.detail: "\(seconds)"])
        } else {
            logger.notice("brokers.throttling-over", "the brokers have not made the worker wait for a minute")
        }
    }

    func brokersLost(_ reason: String) { status.set(.brokers, "no broker can be reached: \(reason)") }

    func brokersChanged(_ notice: BrokerOutage.Notice) {
        switch notice {
        case .lost(let length, let reason):
            logger.error(
                "brokers.unreachable", "no broker is reachable; events wait, and none is lost",
                metadata: [LogKey.outage: "\(Outage.text(length))", LogKey.kafkaError: "\(reason)"])
        case .back(let length):
            logger.notice(
                "brokers.reachable", "the brokers are reachable again; no event was lost",
                metadata: [LogKey.outage: "\(Outage.text(length))"])
        }
    }

    func brokersFound() { status.set(.brokers, nil) }

    func topicsFound() { forgetUnread() }

    func topicsMissing(_ list: String) {
        status.set(.topics, "missing or not to be used: \(list)")
        logger.error(
            "topics.missing",
            "topics do not exist or may not be used; create them, or rename them under topics; waiting",
            metadata: [LogKey.topic: "\(list)"])
    }

    func tiersAbandoned(_ list: String) {
        status.set(.topics, "no tier of worker.retries.tiers reads \(list)")
        logger.error(
            "retry-topics.abandoned",
            "retry topics hold events and belong to no tier; put the tiers back until they are empty, or delete the topics; waiting",
            metadata: [LogKey.topic: "\(list)"])
    }

    /// Notes that the control topic is not read yet.
    ///
    /// - Parameter isNew: whether the session has not logged that before.
    func controlUnread(_ topic: String, _ reason: String, isNew: Bool) {
        status.set(.topics, "the control topic \(topic) is not read yet: \(reason)")
        guard isNew else { return }
        logger.error(
            "control-topic.unread",
            "the control topic is not read yet; nothing is consumed until the operators' pauses are known",
            metadata: [LogKey.topic: "\(topic)", LogKey.kafkaError: "\(reason)"])
    }

    func registrationFailed(_ error: KafkaError) {
        status.set(.brokers, "the transaction coordinator does not answer: \(error)")
        logger.warning(
            "transactional-id.unregistered", "the transactional id could not be registered yet",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    func opened() { metrics.sessions.add() }

    func began(_ configuration: Configuration, bootstrapServers: String, instance: String) {
        if !status.isQuiet { status.set(.worker, nil) }
        logger.notice(
            "worker.consuming", "the worker consumes",
            metadata: [
                LogKey.bootstrapServers: "\(bootstrapServers)",
                LogKey.delivery: "\(configuration.delivery.rawValue)", LogKey.instance: "\(instance)",
                LogKey.topic: "\(configuration.inputTopics.joined(separator: ", "))",
            ])
    }

    /// Notes that the consumer of `lane` reports an error.
    func consumerFailed(_ error: KafkaError, _ lane: Lane) {
        if error.code.isAboutReading || error.code.isJoinRefused { setUnread(error, lane) }
        let details: Logger.Metadata = [LogKey.lane: "\(lane.rawValue)", LogKey.kafkaError: "\(error)"]
        // Lost connections are the library's lines, and an outage has a line of its own.
        if error.code.isConnection {
            return logger.debug("kafka.consumer-error", "a consumer reports an error", metadata: details)
        }
        logger.warning("kafka.consumer-error", "a consumer reports an error", metadata: details)
    }

    func versionsIncomplete() {
        logger.warning("versions.incomplete", "not all of the token topic's latest versions could be read in time")
    }

    func versionsUnknown(_ topic: String, _ error: KafkaError) {
        logger.warning(
            "versions.unreadable", "the versions on the token topic could not be read; this worker uses its clock",
            metadata: [LogKey.topic: "\(topic)", LogKey.kafkaError: "\(error)"])
    }

    // MARK: The end of clients

    /// Notes that new clients follow, because the files of the certificates changed.
    func renewing() {
        status.set(.worker, "its Kafka clients are replaced: the files of their certificates changed", isFault: false)
    }

    func lastCommitFailed(_ error: KafkaError) {
        logger.warning(
            "last-commit.failed",
            "the last commit before new Kafka clients failed; they go on from the committed offsets",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    /// Notes that the brokers did not answer a commit of the worker `instance` in time.
    func commitGivenUp(instance: String) {
        logger.warning(
            "last-commit.unanswered",
            "the brokers did not answer a commit in time; its clients are given up, and new ones go on from the committed offsets",
            metadata: [LogKey.instance: "\(instance)"])
    }

    func leftLate() {
        logger.warning("group.left-late", "leaving the groups took too long; they will notice by themselves")
    }

    func clientsFailed(_ error: KafkaError) {
        status.set(.worker, "its Kafka clients are replaced: \(error)")
        logger.error(
            "kafka-clients.replaced",
            "the Kafka clients are of no further use; new ones start from the committed offsets",
            metadata: [LogKey.kafkaError: "\(error)"])
    }
}
