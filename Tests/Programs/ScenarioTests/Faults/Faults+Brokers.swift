import Kafka
import ProgramTestSupport

extension Fault {
    private static let away = "no broker is reachable; events wait, and none is lost"

    static let brokers: [Fault] = [
        Fault(
            name: "the brokers are away when the worker starts", isAtStart: true,
            make: { try await $0.shop.broker.inject(.brokerDown(1)) },
            readiness: .shows("no broker can be reached"), firstLine: .shows(away),
            lastLine: .shows("the worker consumes"),
            metric: FaultMetric("remint_ready", #"dependency="brokers""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="brokers""#), status: .shows("no broker answers"),
            page: .shows("no broker can be reached"),
            fix: { stage in
                try await stage.shop.broker.inject(.brokerUp(1))
                // A worker that reached no broker at its start exits, and its supervisor starts it again.
                try await stage.program.waitForEnd()
                try await stage.startWorker()
            }),
        Fault(
            name: "the brokers are away",
            make: { try await $0.shop.broker.inject(.brokerDown(1)) },
            readiness: .shows("no broker can be reached"), firstLine: .shows(away),
            lastLine: .shows("the brokers are reachable again; no event was lost"),
            metric: FaultMetric("remint_ready", #"dependency="brokers""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="brokers""#), status: .shows("no broker answers"),
            page: .shows("no broker can be reached"), fix: { try await $0.shop.broker.inject(.brokerUp(1)) }),
        Fault(
            name: "the worker may no longer read the live topic",
            make: { try await $0.shop.broker.inject(.topic("remint.invalidations", .topicAuthorizationFailed)) },
            readiness: .shows("the live lane's topics cannot be read"),
            firstLine: .shows("a consumer reports an error"),
            lastLine: .shows("a consumer reports an error"),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .shows("the topic remint.invalidations does not exist or may not be seen"),
            page: .shows("the live lane's topics cannot be read")),
    ]
}
