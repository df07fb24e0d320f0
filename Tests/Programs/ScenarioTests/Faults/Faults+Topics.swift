import Kafka

extension Fault {
    private static func missing(_ topic: String, _ purpose: String) -> Fault {
        Fault(
            name: "the \(purpose) topic is missing when the worker starts", isAtStart: true,
            make: { try await $0.shop.broker.inject(.topic(topic, .unknownTopicOrPartition)) },
            readiness: .shows("missing or not to be used: \(topic)"),
            firstLine: .shows(
                "topics do not exist or may not be used; create them, or rename them under topics; waiting"),
            lastLine: .shows("the worker consumes"),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .shows("the topic \(topic) does not exist or may not be seen"),
            page: .shows("missing or not to be used: \(topic)"),
            fix: { try await $0.shop.broker.inject(.topic(topic, nil)) })
    }

    static let topics: [Fault] = [
        missing("remint.tokens", "token"),
        missing("remint.invalidations.bulk", "bulk"),
        missing("remint.retries.1s", "retry"),
        missing("remint.dead-letters", "dead-letter"),
        Fault(
            name: "the control topic is missing when the worker starts", isAtStart: true,
            make: { try await $0.shop.broker.inject(.topic("remint.control", .unknownTopicOrPartition)) },
            readiness: .shows("the control topic remint.control does not exist"),
            firstLine: .shows("the control topic does not exist: suspensions and pauses hold for this worker alone"),
            lastLine: .shows("the worker consumes"),
            metric: FaultMetric("remint_degraded", #"part="control""#, bound: .equal(1)),
            alert: FaultAlert("RemintDegraded", #"part="control""#),
            status: .shows("the topic remint.control does not exist or may not be seen"),
            page: .shows("the control topic remint.control does not exist")),
        Fault(
            name: "the worker may not read the control topic", isAtStart: true,
            make: { try await $0.shop.broker.inject(.topic("remint.control", .topicAuthorizationFailed)) },
            readiness: .shows("the control topic remint.control is not read yet"),
            firstLine: .shows(
                "the control topic is not read yet; nothing is consumed until the operators' pauses are known"),
            lastLine: .shows("the worker consumes"),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .shows("the topic remint.control does not exist or may not be seen"),
            page: .shows("the control topic remint.control is not read yet"),
            fix: { try await $0.shop.broker.inject(.topic("remint.control", nil)) }),
    ]
}
