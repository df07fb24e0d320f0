import CRdKafka
import Logging

/// librdkafka's log lines, in swift-log.
enum LibraryLog {
    /// Writes a log event. The caller destroys it.
    ///
    /// - Returns: the topic that the coordinator refused to make part of a transaction, if the line is about one.
    static func write(_ event: OpaquePointer, to logger: Logger) -> String? {
        var facility: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        var severity: Int32 = 0
        guard unsafe rd_kafka_event_log(event, &facility, &text, &severity) == 0, let text = unsafe text else {
            return nil
        }
        let line = unsafe String(cString: text)
        let part = unsafe facility.map { unsafe String(cString: $0) } ?? ""
        let level = level(ofPart: part) ?? level(ofSyslog: severity)
        logger.log(
            level: isOtherClients(line) ? .debug : level, "librdkafka",
            metadata: [
                "remint.event": "kafka.library",
                "kafka.facility": "\(part)",
                "kafka.text": "\(line)",
            ])
        return part == "ADDPARTS" ? refusedTopic(in: line) : nil
    }

    /// Returns the topic in the line of librdkafka 2.0.2 about a partition that the client may not make part of a
    /// transaction. Other errors pass, and are no reason to wait for a topic.
    static func refusedTopic(in line: String) -> String? {
        let parts = line.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        let refusal = unsafe String(cString: rd_kafka_err2str(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED))
        guard parts.count == 3, parts[0].hasSuffix("Failed to add partition "), parts[2].hasSuffix(refusal) else {
            return nil
        }
        return String(parts[1])
    }

    /// Returns whether a line is about properties of the other kind of client: consumers and producers share one
    /// configuration, and librdkafka logs the properties that one does not use.
    private static func isOtherClients(_ line: String) -> Bool {
        line.hasPrefix("[thrd:app]: Configuration property ") && line.contains("property and will be ignored by this")
    }

    /// Returns the log level of what the library tries again by itself, and what the client's own errors report where that
    /// does not help: a failed connection, and the request of a producer's id, which a cluster that has just begun refuses.
    private static func level(ofPart part: String) -> Logger.Level? {
        switch part {
        case "FAIL": .warning
        case "GETPID": .debug
        default: nil
        }
    }

    /// Returns the log level for a severity. librdkafka uses syslog's severities (RFC 5424, section 6.2.1). Its
    /// emergencies concern one connection, so none is more than an error here, and its messages about connections at
    /// level 6 do not deserve `info`.
    private static func level(ofSyslog severity: Int32) -> Logger.Level {
        switch severity {
        case ...3: .error
        case 4: .warning
        case 5: .notice
        case 6: .debug
        default: .trace
        }
    }
}
