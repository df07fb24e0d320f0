import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Fault {
    private static let away = "no broker is reachable; events wait, and none is lost"

    static let brokers: [Fault] = [
        Fault(
            name: "the brokers are away when the worker starts", isAtStart: true,
            make: { try await $0.shop.broker.inject(.brokerDown(1)) },
            readiness: .shows("no broker can be reached"), firstLine: .shows(away),
            lastLine: .shows("the worker consumes"),
            metric: FaultMetric("remint_ready", #"dependency="brokers""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="brokers""#), status: .shows("Broker transport failure"),
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
            alert: FaultAlert("RemintNotReady", #"dependency="brokers""#), status: .shows("Broker transport failure"),
            page: .shows("no broker can be reached"), fix: { try await $0.shop.broker.inject(.brokerUp(1)) }),
        Fault(
            name: "the worker may no longer read the live topic",
            make: { try await $0.shop.broker.inject(.topic("remint.invalidations", .topicAuthorizationFailed)) },
            readiness: .shows("the live lane's topics cannot be read"),
            firstLine: .shows("a consumer reports an error"), lastLine: .shows("a consumer reports an error"),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .shows("the topic remint.invalidations does not exist or may not be seen"),
            page: .shows("the live lane's topics cannot be read")),
        Fault(
            name: "the worker may not join its groups", isAtStart: true,
            make: { stage in
                let errors = Array(repeating: EmbeddedBroker.ResponseError.groupAuthorizationFailed, count: 500)
                try await stage.shop.broker.inject(.errors(.joinGroup, errors))
            },
            readiness: .shows("lane's topics cannot be read"), firstLine: .shows("a consumer reports an error"),
            lastLine: .shows("the worker consumes"),
            metric: FaultMetric("remint_ready", #"dependency="topics""#, bound: .equal(0)),
            alert: FaultAlert("RemintNotReady", #"dependency="topics""#),
            status: .cannotSee("the command joins no group"), page: .shows("lane's topics cannot be read"),
            fix: { try await $0.shop.broker.inject(.noErrors(.joinGroup)) }),
        Fault(
            name: "no token for the brokers can be fetched", isAtStart: true, make: fetchTokensFromNobody,
            readiness: .shows(#""broker_tokens":"#), firstLine: .shows("no token for the brokers can be got"),
            lastLine: .shows("no token for the brokers can be got"),
            metric: FaultMetric("remint_kafka_tokens_total", #"result="failed""#, bound: .atLeast(1)),
            alert: FaultAlert("RemintNoBrokerToken", isRepeated: true),
            status: .shows("no token for the brokers can be got"),
            page: .shows(#""broker_tokens":"#)),
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
