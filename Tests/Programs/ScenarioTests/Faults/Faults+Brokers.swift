import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Fault {
    private static let away = "brokers.unreachable"

    static let brokers: [Fault] = [
        Fault(
            name: "the brokers are away when the worker starts", scene: .brokers, isAtStart: true,
            make: { try await $0.shop.broker.inject(.brokerDown(1)) },
            readiness: .shows("no broker can be reached"), firstLine: .logs(away),
            lastLine: .logs(consumes), metric: FaultMetric("remint_ready", #"dependency="brokers""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="brokers""#), status: .shows("Broker transport failure"),
            page: .shows("no broker can be reached"),
            end: .fixed { stage in
                try await stage.shop.broker.inject(.brokerUp(1))
                // A worker that reaches no broker for 15 seconds exits, and its supervisor starts it again.
                if try await !stage.worker.logged(consumes) { try await stage.startWorker() }
            }),
        Fault(
            name: "the brokers are away", scene: .brokers,
            make: { try await $0.shop.broker.inject(.brokerDown(1)) },
            readiness: .shows("no broker can be reached"), firstLine: .logs(away), lastLine: .logs("brokers.reachable"),
            metric: FaultMetric("remint_ready", #"dependency="brokers""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="brokers""#), status: .shows("Broker transport failure"),
            page: .shows("no broker can be reached"),
            end: .fixed { try await $0.shop.broker.inject(.brokerUp(1)) }
        ).inEveryRun,
        Fault(
            name: "the worker may no longer read the live topic", scene: .brokers,
            make: { try await $0.shop.broker.inject(.topic("remint.invalidations", .topicAuthorizationFailed)) },
            readiness: .shows("the live lane's topics cannot be read"),
            firstLine: .logs("kafka.consumer-error"), lastLine: .logs("kafka.consumer-error"),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .shows("the topic remint.invalidations does not exist or may not be seen"),
            page: .shows("the live lane's topics cannot be read"),
            end: .newWorker { try await $0.shop.broker.inject(.topic("remint.invalidations", nil)) }),
        Fault(
            name: "the worker may not join its groups", scene: .brokers, isAtStart: true,
            make: { stage in
                let errors = Array(repeating: EmbeddedBroker.ResponseError.groupAuthorizationFailed, count: 500)
                try await stage.shop.broker.inject(.errors(.joinGroup, errors))
            },
            readiness: .shows("lane's topics cannot be read"), firstLine: .logs("kafka.consumer-error"),
            lastLine: .logs(consumes), metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .cannotSee("the command joins no group"), page: .shows("lane's topics cannot be read"),
            end: .fixed { try await $0.shop.broker.inject(.noErrors(.joinGroup)) }),
        Fault(
            name: "no token for the brokers can be fetched", scene: .starts, isAtStart: true,
            make: fetchTokensFromNobody,
            readiness: .shows(#""broker_tokens":"#), firstLine: .logs("broker-tokens.unavailable"),
            lastLine: .logs("broker-tokens.unavailable"),
            metric: FaultMetric("remint_kafka_tokens_total", #"result="failed""#, bound: .atLeast(1)),
            alert: FaultAlert("RemintNoBrokerToken", isRepeated: true),
            status: .shows("no token for the brokers can be got"), page: .shows(#""broker_tokens":"#),
            // It has no place in its groups to leave.
            end: .newWorker { try $0.worker.kill() }),
    ]

    /// Lets the worker fetch its tokens from a server that nobody runs.
    private static let fetchTokensFromNobody: Action = { stage in
        let secret = stage.shop.folder.appending(path: "client.secret")
        try #require(
            FileManager.default.createFile(
                atPath: secret.path, contents: Data("a-secret".utf8), attributes: [.posixPermissions: 0o600]))
        let endpoint = "http://127.0.0.1:\(try Gateway.freePort())/token"
        let entries =
            "source: oidc, token_endpoint: '\(endpoint)', client_id: remint, client_secret_file: client.secret"
        try stage.shop.configure(
            "    fetch.wait.max.ms: 10\n",
            "    fetch.wait.max.ms: 10\n    security.protocol: SASL_PLAINTEXT\n  oauth: { \(entries) }\n")
    }
}
