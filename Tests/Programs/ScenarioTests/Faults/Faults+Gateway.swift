import Foundation
import Glibc
import Kafka
import ProgramTestSupport
import Testing

extension Fault {
    private static let noPage = FaultSign.cannotSee("the gateway has no status page")
    private static let noGateway = FaultSign.cannotSee("the command asks brokers and key rings, and no gateway")

    /// Starts a worker beside the gateway.
    private static let withWorker: Action = { stage in stage.keep(try await stage.shop.startWorker(), isHelper: true) }

    private static func notReady(_ dependency: String) -> FaultMetric {
        FaultMetric("remint_pickup_ready", #"dependency="\#(dependency)""#, bound: .equal(0))
    }

    private static func alert(_ dependency: String) -> FaultAlert {
        FaultAlert("RemintGatewayNotReady", #"dependency="\#(dependency)""#)
    }

    static let gateway: [Fault] = [
        Fault(
            name: "the brokers are away from the gateway", subject: .gateway, prepare: withWorker,
            make: { try await $0.shop.broker.inject(.brokerDown(1)) },
            readiness: .shows("no broker answers since"),
            firstLine: .shows("no broker answers; live tokens that are known are served, and nothing new is minted"),
            lastLine: .shows("the brokers answer again"), metric: notReady("brokers"), alert: alert("brokers"),
            status: .shows("Broker transport failure"), page: noPage,
            fix: { try await $0.shop.broker.inject(.brokerUp(1)) }),
        Fault(
            name: "the gateway may no longer read the token topic", subject: .gateway, prepare: withWorker,
            make: { try await $0.shop.broker.inject(.topic("remint.tokens", .topicAuthorizationFailed)) },
            readiness: .shows("the token topic does not exist or may not be read"),
            firstLine: .shows("the topics cannot be followed; it is tried again"),
            lastLine: .shows("the topics are followed again"), metric: notReady("tokens"), alert: alert("tokens"),
            status: .shows("the topic remint.tokens does not exist or may not be seen"), page: noPage,
            fix: { try await $0.shop.broker.inject(.topic("remint.tokens", nil)) }),
        Fault(
            name: "the workers behind the gateway hang", subject: .gateway, prepare: withWorker,
            make: { stage in
                try stage.helper.send(SIGSTOP)
                // The gateway notices by an event that waits.
                let gateway = try stage.gateway
                _ = try await gateway.call("/v1/apps/braze-ios/token?wait=1", session: try gateway.session("ben"))
            },
            readiness: .shows("no worker answers since"),
            firstLine: .shows("no worker answers; live tokens that are known are served, and nothing new is minted"),
            lastLine: .shows("workers answer again"), metric: notReady("workers"), alert: alert("workers"),
            status: .shows("remint.invalidations 2 1"), page: noPage, fix: { try $0.helper.send(SIGCONT) }),
        Fault(
            name: "the session issuer withdraws its keys", subject: .gateway, prepare: withWorker,
            make: { stage in
                let file = stage.shop.folder.appending(path: "sessions.json")
                try FileManager.default.copyItem(at: file, to: stage.shop.folder.appending(path: "good.json"))
                try Data(#"{"keys":[]}"#.utf8).write(to: file)
            },
            readiness: .shows("the session issuer publishes no usable key"),
            firstLine: .shows("the session issuer publishes no usable key; its sessions get 503 until it does"),
            lastLine: .shows("the session issuer publishes a usable key again"), metric: notReady("sessions"),
            alert: alert("sessions"), status: noGateway, page: noPage,
            fix: { stage in
                let good = try Data(contentsOf: stage.shop.folder.appending(path: "good.json"))
                try good.write(to: stage.shop.folder.appending(path: "sessions.json"))
            }),
        Fault(
            name: "an operator has paused the live lane behind the gateway", subject: .gateway, prepare: withWorker,
            make: { try await $0.remint("lanes", "pause", "live", "--reason", "the vendor moves") },
            readiness: .shows("an operator paused the live lane"),
            firstLine: .shows("an operator paused the live lane; live tokens that are known are served"),
            lastLine: .shows("the live lane is not paused any more"), metric: notReady("lane"), alert: alert("lane"),
            status: .shows("the live lane is paused"), page: noPage,
            fix: { try await $0.remint("lanes", "resume", "live") }),
    ]
}
