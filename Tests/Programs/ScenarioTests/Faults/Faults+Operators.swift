import CommandTestSupport
import Foundation
import Glibc
import ProgramTestSupport
import Testing

extension Fault {
    private static let gone = "the process has exited, so nobody answers"

    private static func refused(_ name: String, _ words: String, _ passage: String, _ replacement: String) -> Fault {
        Fault(
            name: name,
            make: { stage in
                try stage.shop.configure(passage, replacement)
                try stage.worker.send(SIGHUP)
            },
            readiness: .shows("the configuration's file cannot be used"),
            firstLine: .logs("reload.refused"), lastLine: .logs("reload.unchanged"),
            metric: FaultMetric("remint_configuration_last_reload_successful", bound: .equal(0)),
            alert: FaultAlert("RemintConfigurationRefused"), status: .shows(words),
            page: .shows("the configuration's file cannot be used"),
            end: .fixed { stage in
                try stage.shop.configure(replacement, passage)
                try stage.worker.send(SIGHUP)
            })
    }

    private static func stopped(_ name: String, _ signal: Int32, _ line: FaultSign) -> Fault {
        Fault(
            name: name,
            make: { stage in
                try stage.worker.send(signal)
                try await stage.worker.waitForEnd()
            },
            readiness: .cannotSee(gone), firstLine: line, lastLine: .logs(consumes),
            metric: FaultMetric("remint_ready", bound: .absent), alert: FaultAlert("RemintNoWorker"),
            status: .cannotSee("the brokers of the tests describe no groups; others show `no worker is there`"),
            page: .cannotSee(gone), end: .fixed { try await $0.startWorker() })
    }

    /// Sends the worker's traces to a collector that nobody runs: an event waits for the worker.
    private static let exportToNobody: Action = { stage in
        let port = try Gateway.freePort()
        let file = URL(filePath: stage.shop.configuration)
        let text = try String(contentsOf: file, encoding: .utf8)
        let section = "telemetry:\n  traces: { sample: 100% }\n  otlp: { endpoint: 'http://127.0.0.1:\(port)' }\n"
        try Data("\(text)\n\(section)".utf8).write(to: file)
        try await stage.shop.produce(
            stage.newUsers(1).map { rawReport("braze-ios", #"{"errorCode":22,"userId":"user-\#($0)"}"#) })
    }

    private static func rotate(_ stage: FaultStage, _ step: [String]) async throws {
        let command = try await Command.remint(
            ["rotate"] + step + ["--config", stage.shop.configuration, "--key", "braze-ios"])
        #expect(command.status == 0, "\(step): \(command.errorText)")
    }

    static let operators: [Fault] = [
        refused(
            "a mistake in the configuration is refused", "remint.yaml:", "\napps:\n",
            "\napps:\n  broken: { adapter: nobody }\n"),
        refused(
            "a configuration names a key ring that is missing", "keys/nowhere", "\nkeys:\n",
            "\nkeys:\n  nowhere: { path: keys/nowhere }\n"),
        Fault(
            name: "an operator has paused the live lane",
            make: { try await $0.remint("lanes", "pause", "live", "--reason", "the vendor moves") },
            readiness: .shows("the live lane is paused"),
            firstLine: .logs("lane.paused"), lastLine: .logs("lane.resumed"),
            metric: FaultMetric("remint_lane_paused", #"lane="live""#, bound: .equal(1)),
            alert: FaultAlert("RemintLanePaused", #"lane="live""#), status: .shows("the live lane is paused"),
            page: .shows("the vendor moves"), end: .fixed { try await $0.remint("lanes", "resume", "live") }
        ).inEveryRun,
        Fault(
            name: "an operator has paused an app",
            make: { try await $0.remint("apps", "pause", "braze-ios", "--reason", "the vendor moves") },
            readiness: .shows("braze-ios is paused"), firstLine: .logs("app.paused"), lastLine: .logs("app.resumed"),
            metric: FaultMetric("remint_app_paused", #"app="braze-ios""#, bound: .equal(1)),
            alert: FaultAlert("RemintAppPaused", #"app="braze-ios""#), status: .shows("braze-ios is paused"),
            page: .shows("the vendor moves"), end: .fixed { try await $0.remint("apps", "resume", "braze-ios") }),
        Fault(
            name: "an operator has paused a campaign",
            prepare: { stage in
                for step in [["prepare"], ["promote", "--now"]] { try await rotate(stage, step) }
            },
            make: { try await rotate($0, ["pause", "--reason", "the vendor moves"]) },
            readiness: .shows("the campaign of braze-ios is paused"),
            firstLine: .logs("campaign.paused"), lastLine: .logs("campaign.pause-over"),
            metric: FaultMetric("remint_campaign_paused", #"ring="braze-ios""#, bound: .equal(1)),
            alert: FaultAlert("RemintCampaignPaused", #"ring="braze-ios""#), status: .shows(", paused: "),
            page: .shows("the campaign of braze-ios is paused"), end: .fixed { try await rotate($0, ["resume"]) }),
        Fault(
            name: "an operator has made the worker quiet", make: { try $0.worker.send(SIGUSR1) },
            readiness: .shows("it is quiet"), firstLine: .logs("worker.quiet"), lastLine: .logs("worker.quiet-over"),
            metric: FaultMetric("remint_ready", #"dependency="worker""#, bound: .equal(0)),
            alert: FaultAlert("RemintNoWorker"),
            status: .cannotSee("the worker stays in its groups, and the command asks no worker"),
            page: .shows("it is quiet"), end: .fixed { try $0.worker.send(SIGUSR1) }),
        stopped("the only worker is stopped", SIGTERM, .logs("worker.stopped")),
        stopped("the only worker is killed", SIGKILL, .cannotSee("a killed process writes nothing")).inEveryRun,
        Fault(
            name: "the collector of traces is away", scene: .starts, isAtStart: true, make: exportToNobody,
            readiness: .shows("the collector does not accept traces"),
            firstLine: .logs("collector.unavailable"), lastLine: .logs("collector.unavailable"),
            metric: FaultMetric("remint_degraded", #"part="telemetry""#, bound: .equal(1)),
            alert: FaultAlert("RemintDegraded", #"part="telemetry""#),
            status: .cannotSee("the command asks brokers and key rings, and no collector"),
            page: .shows("the collector does not accept traces"), end: .newWorker()),
    ]
}
