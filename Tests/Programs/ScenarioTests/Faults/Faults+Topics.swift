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

    private static func unwritable(
        _ topic: String, _ purpose: String, because error: EmbeddedBroker.ResponseError, _ event: String,
        outcome: String
    ) -> Fault {
        Fault(
            name:
                "the \(purpose) topic \(error == .topicAuthorizationFailed ? "may no longer be written" : "is deleted")",
            make: { stage in
                // The worker has written the topic before, so that the next record fails at once.
                let written = FaultMetric("remint_outcomes_total", #"outcome="\#(outcome)""#, bound: .atLeast(1))
                try await stage.shop.produce([rawReport("braze-ios", event)])
                while await stage.metrics()?.shows(written) != true { try Task.checkCancellation() }
                try await stage.shop.broker.inject(.topic(topic, error))
                try await stage.shop.produce([rawReport("braze-ios", event)])
            },
            readiness: .shows("the topic \(topic) cannot be written"),
            firstLine: .shows("a topic cannot be written; nothing is consumed or committed until it can"),
            lastLine: .shows("the topics can be written again; events are taken again"),
            metric: FaultMetric("remint_ready", #"dependency="publishing""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="publishing""#),
            status: .shows("the topic \(topic) does not exist or may not be seen"),
            page: .shows("the topic \(topic) cannot be written"),
            fix: { try await $0.shop.broker.inject(.topic(topic, nil)) })
    }

    private static let good = #"{"errorCode":22,"userId":"ann"}"#

    static let topics: [Fault] = [
        missing("remint.tokens", "token"),
        missing("remint.invalidations.bulk", "bulk"),
        missing("remint.retries.1s", "retry"),
        missing("remint.dead-letters", "dead-letter"),
        unwritable("remint.tokens", "token", because: .topicAuthorizationFailed, good, outcome: "minted"),
        unwritable("remint.tokens", "token", because: .unknownTopicOrPartition, good, outcome: "minted"),
        unwritable(
            "remint.dead-letters", "dead-letter", because: .topicAuthorizationFailed, "[]", outcome: "dead_lettered"),
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
