import AdapterKit
import Keyring
import Operations
import Pipeline
import Telemetry

/// The state of a worker at one moment: the answer to `/status`, from which the page and `remint status` are made.
///
/// It holds names, counts, times and stable codes; never a user, a token, a key or a string from a report.
struct StatusReport: Sendable {
    /// The version of the shape. Members may be added to it; one that is taken away or comes to mean something else makes it the next.
    static let shape: Int64 = 1

    /// The most apps in an answer, which viewers ask for every two seconds.
    static let mostApps = 1000

    var at: UnixTime
    var worker: Worker
    var rates: Rates
    /// The events of the last minute, quarter of an hour and hour.
    var recent: Recent
    /// The lanes, the most urgent first.
    var lanes: [LaneFlow]
    var outcomes: Outcomes
    /// The events among them that belong to no configured app.
    var unattributed: Outcomes
    /// The dead letters of these events, by code.
    var unattributedDeadLetters: [String: Int]
    /// These events, as far as they are recent.
    var unattributedRecent: Recent.App
    /// The apps, in the order of the configuration.
    var apps: [App]
    /// The key rings, in the order of the configuration.
    var rings: [RingReport]
    var lookups: [LookupAccount]

    struct Worker: Sendable {
        /// The worker's transactional id; empty until it has one.
        var name: String
        var group: String
        var build: BuildInfo
        var started: UnixTime
        /// The missing dependencies, each with the reason; empty if the worker is ready.
        var problems: [WorkerStatus.Dependency: String]
        var problemsSince: [WorkerStatus.Dependency: UnixTime] = [:]
        var degraded: [Degradations.Part: String] = [:]
        /// The begin of each degraded part, as far as it is known.
        var degradedSince: [Degradations.Part: UnixTime] = [:]
        /// The address of the folder that OPERATION.md is in; nil for none.
        var runbook: String?
        var isQuiet: Bool
        var sinceHeartbeat: Int64

        /// The state in a word: ready, quiet or not_ready.
        var state: String { isQuiet ? "quiet" : problems.isEmpty ? "ready" : "not_ready" }
    }

    /// Events a second.
    struct Rates: Sendable, Equatable {
        /// The period of the rates, in seconds; 0 if nothing is known yet.
        var seconds = 0.0
        /// Events that finished, a second.
        var ended = 0.0
        /// Tokens published, a second.
        var minted = 0.0
        /// Events that finished in each of the last seconds, the oldest first.
        var endedBySecond: [Int] = []
        var mintedBySecond: [Int] = []
        var deadLetteredBySecond: [Int] = []
    }

    struct LaneFlow: Sendable {
        var lane: Lane
        var taken: Int
        /// Events taken, a second.
        var takenPerSecond: Double
        /// Events taken and not in work.
        var queued: Int
        /// Records without an outcome in the partitions that are known to this worker.
        var lag: Int
        var partitions: Int
        /// The age of the oldest event that was consumed and has no outcome yet, in seconds.
        var oldest: Double
        /// The time from production to visible outcome, over the last minute; nil where no event had an outcome in it.
        var latency: Latency?
        /// The operator's pause in force; nil where the lane is not paused.
        var pause: LanePause?
    }

    /// A distribution of times, in seconds; each figure is estimated within its histogram bucket.
    struct Latency: Sendable, Equatable {
        var median: Double
        /// 99 of 100 are faster.
        var p99: Double
        /// The number of events in the distribution.
        var count: Int
    }

    struct App: Sendable {
        var status: WorkerStatus.AppStatus
        var outcomes: Outcomes
        var deadLetters: [String: Int]
    }

    struct LookupAccount: Sendable {
        var account: String
        /// closed, half_open or open.
        var circuit: String
        /// Users the vendor is still to be asked about.
        var queued: Int
        var inFlight: Int
    }

    /// Finished events, by outcome.
    struct Outcomes: Sendable, Equatable {
        static let names = Outcome.names
        /// Each count, in the order of `names`.
        private(set) var counts = Array(repeating: 0, count: Self.names.count)

        mutating func add(_ count: Int, _ name: String) {
            guard let index = Self.names.firstIndex(of: name) else { return }
            counts[index] += count
        }
    }

    struct Recent: Sendable, Equatable {
        /// Finished events, and the tokens and dead letters among them.
        struct Tally: Sendable, Equatable {
            var ended = 0
            var minted = 0
            var deadLettered = 0

            mutating func add(_ count: Int, _ outcome: String) {
                ended += count
                if outcome == "minted" { minted += count }
                if outcome == "dead_lettered" { deadLettered += count }
            }
        }

        /// A tally and the time in which it grew.
        struct Window: Sendable, Equatable {
            /// The length in seconds; shorter than its name right after the start, 0 before the first snapshot.
            var seconds = 0.0
            var tally = Tally()

            mutating func add(_ count: Int, _ outcome: String) { tally.add(count, outcome) }
        }

        /// Tallies of equal times, the oldest first.
        struct Series: Sendable, Equatable {
            var ended: [Int] = []
            var minted: [Int] = []
            var deadLettered: [Int] = []
        }

        struct App: Sendable, Equatable {
            var minute = Tally()
            var quarterHour = Tally()
            var deadLetters: [String: Int] = [:]
            /// The events of the last minute with the code `mint_failed`: no token could be made or published.
            var mintFailed = 0

            mutating func add(_ grown: [Int], _ outcome: String, _ code: String) {
                minute.add(grown[0], outcome)
                quarterHour.add(grown[1], outcome)
                if code == ErrorCode.mintFailed.rawValue { mintFailed += grown[0] }
                if outcome == "dead_lettered" { deadLetters[code, default: 0] += grown[2] }
            }

            mutating func add(_ other: App) {
                minute.add(other.minute)
                quarterHour.add(other.quarterHour)
                mintFailed += other.mintFailed
                deadLetters.merge(other.deadLetters, uniquingKeysWith: +)
            }
        }

        var minute = Window()
        var quarterHour = Window()
        var hour = Window()
        /// The minutes of the last hour. The last one is not over.
        var byMinute = Series()
        var deadLetters: [String: Int] = [:]
        /// The apps that had events, by name. The name is empty for events of no configured app.
        var apps: [String: App] = [:]
    }
}

extension StatusReport.Recent.Tally {
    fileprivate mutating func add(_ other: Self) {
        ended += other.ended
        minted += other.minted
        deadLettered += other.deadLettered
    }
}

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
