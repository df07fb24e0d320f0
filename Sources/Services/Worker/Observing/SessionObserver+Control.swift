import Kafka
import Logging
import Telemetry

// MARK: The control topic

extension SessionObserver {
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

    /// Notes that the control topic could not be read from its start, and that the worker tries again.
    func controlNotReadAgain(_ error: KafkaError) {
        status.degradations.set(.control, "the control topic cannot be read from its start: \(error)", of: "start")
        logger.warning(
            "control-topic.unreadable", "the control topic could not be read from its start; it is tried again",
            metadata: [LogKey.kafkaError: "\(error)"])
    }

    /// Notes that no client can be made to write the control topic.
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
