import Foundation
import Glibc
import Kafka
import ProgramTestSupport
import Testing

extension Fault {
    private static let noPage = FaultSign.cannotSee("the gateway has no status page")
    private static let noGateway = FaultSign.cannotSee("the command asks brokers and key rings, and no gateway")

    private static func notReady(_ dependency: String) -> FaultMetric {
        FaultMetric("remint_pickup_ready", #"dependency="\#(dependency)""#, bound: .equal(0))
    }

    private static func alert(_ dependency: String) -> FaultAlert {
        FaultAlert("RemintGatewayNotReady", #"dependency="\#(dependency)""#)
    }

    static let gateway: [Fault] = [
        Fault(
            name: "the brokers are away from the gateway", scene: .gateway,
            make: { try await $0.shop.broker.inject(.brokerDown(1)) },
            readiness: .shows("no broker answers since"),
            firstLine: .logs("gateway.brokers-unreachable"),
            lastLine: .logs("gateway.brokers-reachable"), metric: notReady("brokers"), alert: alert("brokers"),
            status: .shows("Broker transport failure"), page: noPage,
            end: .fixed { try await $0.shop.broker.inject(.brokerUp(1)) }),
        Fault(
            name: "the gateway may no longer read the token topic", scene: .gateway,
            make: { try await $0.shop.broker.inject(.topic("remint.tokens", .topicAuthorizationFailed)) },
            readiness: .shows("the token topic does not exist or may not be read"),
            firstLine: .logs("gateway.topics-unreadable"),
            lastLine: .logs("gateway.topics-readable"), metric: notReady("tokens"), alert: alert("tokens"),
            status: .shows("the topic remint.tokens does not exist or may not be seen"), page: noPage,
            end: .fixed { try await $0.shop.broker.inject(.topic("remint.tokens", nil)) }
        ).inEveryRun,
        Fault(
            name: "the workers behind the gateway hang", scene: .gateway,
            make: { stage in
                try stage.worker.send(SIGSTOP)
                // The gateway notices by an event that waits.
                let gateway = try stage.gateway
                _ = try await gateway.call("/v1/apps/braze-ios/token?wait=1", session: try gateway.session("ben"))
            },
            readiness: .shows("no worker answers since"),
            firstLine: .logs("gateway.workers-silent"),
            lastLine: .logs("gateway.workers-answering"), metric: notReady("workers"), alert: alert("workers"),
            status: .shows("remint.invalidations 2 1"), page: noPage,
            end: .fixed { try $0.worker.send(SIGCONT) }
        ).inEveryRun,
        Fault(
            name: "the session issuer withdraws its keys", scene: .gateway,
            make: { stage in
                let file = stage.shop.folder.appending(path: "sessions.json")
                try FileManager.default.copyItem(at: file, to: stage.shop.folder.appending(path: "good.json"))
                try Data(#"{"keys":[]}"#.utf8).write(to: file)
            },
            readiness: .shows("the session issuer publishes no usable key"),
            firstLine: .logs("session-keys.unusable"),
            lastLine: .logs("session-keys.usable"), metric: notReady("sessions"),
            alert: alert("sessions"), status: noGateway, page: noPage,
            end: .fixed { stage in
                let good = try Data(contentsOf: stage.shop.folder.appending(path: "good.json"))
                try good.write(to: stage.shop.folder.appending(path: "sessions.json"))
            }),
        Fault(
            name: "an operator has paused the live lane behind the gateway", scene: .gateway,
            make: { try await $0.remint("lanes", "pause", "live", "--reason", "the vendor moves") },
            readiness: .shows("an operator paused the live lane"),
            firstLine: .logs("gateway.lane-paused"),
            lastLine: .logs("gateway.lane-pause-over"), metric: notReady("lane"), alert: alert("lane"),
            status: .shows("the live lane is paused"), page: noPage,
            end: .fixed { try await $0.remint("lanes", "resume", "live") }),
    ]
}
