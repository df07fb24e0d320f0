import Kafka

extension Fault {
    private static func missing(_ topic: String, _ purpose: String) -> Fault {
        Fault(
            name: "the \(purpose) topic is missing when the worker starts", scene: .starts, isAtStart: true,
            make: { try await $0.shop.broker.inject(.topic(topic, .unknownTopicOrPartition)) },
            readiness: .shows("missing or not to be used: \(topic)"),
            firstLine: .logs("topics.missing"), lastLine: .logs(consumes),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .shows("the topic \(topic) does not exist or may not be seen"),
            page: .shows("missing or not to be used: \(topic)"),
            end: .fixed { try await $0.shop.broker.inject(.topic(topic, nil)) })
    }

    static let topics: [Fault] = [
        missing("remint.tokens", "token").inEveryRun,
        missing("remint.invalidations.bulk", "bulk"),
        missing("remint.retries.1s", "retry"),
        missing("remint.dead-letters", "dead-letter"),
        Fault(
            name: "the control topic is missing when the worker starts", scene: .starts, isAtStart: true,
            make: { try await $0.shop.broker.inject(.topic("remint.control", .unknownTopicOrPartition)) },
            readiness: .shows("the control topic remint.control does not exist"),
            firstLine: .logs("control-topic.missing"), lastLine: .logs(consumes),
            metric: FaultMetric("remint_degraded", #"part="control""#, bound: .equal(1)),
            alert: FaultAlert("RemintDegraded", #"part="control""#),
            status: .shows("the topic remint.control does not exist or may not be seen"),
            page: .shows("the control topic remint.control does not exist"),
            end: .newWorker { try await $0.shop.broker.inject(.topic("remint.control", nil)) }),
        Fault(
            name: "the worker may not read the control topic", scene: .starts, isAtStart: true,
            make: { try await $0.shop.broker.inject(.topic("remint.control", .topicAuthorizationFailed)) },
            readiness: .shows("the control topic remint.control is not read yet"),
            firstLine: .logs("control-topic.unread"), lastLine: .logs(consumes),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .shows("the topic remint.control does not exist or may not be seen"),
            page: .shows("the control topic remint.control is not read yet"),
            end: .fixed { try await $0.shop.broker.inject(.topic("remint.control", nil)) }),
    ]
}
