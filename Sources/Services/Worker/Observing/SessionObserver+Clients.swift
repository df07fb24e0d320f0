import HTTPTransport
import Kafka
import Logging
import Pipeline
import Telemetry
import WorkerConfiguration

// MARK: Brokers, topics and the clients of a session

extension SessionObserver {
    /// Notes the longest throttle of late.
    func throttled(_ throttle: Duration, _ quota: BrokerQuota.Look) {
        metrics.set(throttle: throttle)
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

    /// Notes that the topics of `list` do not exist or may not be used.
    func topicsMissing(_ list: String) {
        status.set(.topics, "missing or not to be used: \(list)")
        logger.error(
            "topics.missing",
            "topics do not exist or may not be used; create them, or rename them under topics; waiting",
            metadata: [LogKey.topic: "\(list)"])
    }

    /// Notes that the retry topics of `list` hold events that no tier reads.
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

    /// Notes that the transactional id could not be registered, and that the session tries again.
    func registrationFailed(_ error: KafkaError) {
        status.set(.brokers, "the transaction coordinator does not answer: \(error)")
        logger.warning(
            "transactional-id.unregistered", "the transactional id could not be registered yet",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    func opened() { metrics.opened() }

    /// Notes that a session has its first live partitions.
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

    /// Notes that not all of the latest versions on the token topic could be read.
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

    /// Notes that the last commit of clients that are about to be replaced failed.
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

    /// Notes that the session was over before it could leave its groups.
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
