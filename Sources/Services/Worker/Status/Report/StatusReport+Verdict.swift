import Operations
import Pipeline

extension StatusReport {
    /// The verdict on this worker. Suspended and paused apps and lanes have a finding each; the other degraded parts one for all.
    var verdict: Verdict {
        var findings = worker.problems.sorted { $0.key < $1.key }.map { finding($0.key, $0.value) }
        findings += apps.compactMap { app in
            app.status.suspension.map { .app($0, nextProbe: app.status.nextProbe) }
        }
        findings += lanes.compactMap { $0.pause.map { .lane($0) } }
        for (part, reason) in worker.degraded.sorted(by: { $0.key < $1.key }) where part != .apps && part != .lanes {
            findings.append(
                .init(
                    "worker/\(part.rawValue)", .degraded, reason, since: worker.degradedSince[part],
                    command: part.command, runbook: part.runbook))
        }
        return Verdict(findings)
    }

    private func finding(_ dependency: WorkerStatus.Dependency, _ problem: String) -> Verdict.Finding {
        var finding = Verdict.Finding(
            "worker/\(dependency.rawValue)", .fails, "this worker is not ready: \(problem)",
            affected: "the users of this worker's partitions", since: worker.problemsSince[dependency],
            command: "remint check --connect", runbook: "RemintNotReady")
        switch dependency {
        case .brokers, .topics, .publishing, .progress: break
        case .minting:
            finding.affected = "the users of these apps"
            finding.command = "remint topics check"
            finding.runbook = "RemintMintsFail"
        case .keys:
            finding.affected = "the apps of these keys"
            finding.command = "remint check"
        case .clock:
            finding.command = "chronyc tracking"
            finding.runbook = "RemintClockWrong"
        case .worker:
            if worker.isQuiet { finding.effect = .paused }
            finding.command =
                worker.isQuiet ? "systemctl kill --signal=USR1 remint" : "journalctl -u remint --since -1h"
        }
        return finding
    }
}

extension Degradations.Part {
    /// The first command of the part's section in OPERATION.md.
    fileprivate var command: String {
        switch self {
        case .apps: "remint apps list"
        case .lanes: "remint lanes list"
        case .configuration: "remint check"
        case .events: "remint dead-letters list --newer-than 1h"
        case .keys: "remint keys list"
        case .records, .topics: "remint topics check"
        case .groups: "remint status"
        case .memory: "remint topics plan"
        case .brokers, .brokerTokens, .control, .lookups, .telemetry: "remint check --connect"
        }
    }

    fileprivate var runbook: String {
        switch self {
        case .apps: "RemintAppSuspended"
        case .lanes: "RemintLanePaused"
        case .configuration: "RemintConfigurationRefused"
        case .events: "RemintDeadLetters"
        case .keys: "RemintKeyRetires"
        case .records: "RemintUnreadableRecords"
        case .brokerTokens: "RemintNoBrokerToken"
        case .lookups: "RemintVendorLeftAlone"
        case .brokers, .control, .groups, .memory, .telemetry, .topics: "RemintDegraded"
        }
    }
}
