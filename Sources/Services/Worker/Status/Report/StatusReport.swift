import AdapterKit
import Keyring
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
    /// The rates of the last seconds.
    var rates: Rates
    /// The events of the last minute, quarter of an hour and hour.
    var recent: Recent
    /// The lanes, the most urgent first.
    var lanes: [LaneFlow]
    /// Events that finished since the start, by outcome.
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
    /// The accounts at vendors that are asked about users.
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
        /// The time since the last heartbeat of the worker's loop, in seconds.
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
        /// Tokens published, likewise.
        var mintedBySecond: [Int] = []
        /// Dead letters, likewise.
        var deadLetteredBySecond: [Int] = []
    }

    struct LaneFlow: Sendable {
        var lane: Lane
        /// Events taken since the start.
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
        /// The half is faster.
        var median: Double
        /// 99 of 100 are faster.
        var p99: Double
        /// The number of events in the distribution.
        var count: Int
    }

    struct App: Sendable {
        /// The app's name, adapter, key and suspension.
        var status: WorkerStatus.AppStatus
        var outcomes: Outcomes
        /// The app's dead letters by code.
        var deadLetters: [String: Int]
    }

    struct LookupAccount: Sendable {
        var account: String
        /// closed, half_open or open.
        var circuit: String
        /// Users the vendor is still to be asked about.
        var queued: Int
        /// Requests under way.
        var inFlight: Int
    }

    /// Finished events, by outcome.
    struct Outcomes: Sendable, Equatable {
        /// Every outcome's name, in the order they are shown.
        static let names = Outcome.names
        /// Each count, in the order of `names`.
        private(set) var counts = Array(repeating: 0, count: Self.names.count)

        /// Adds `count` to the outcome called `name`.
        mutating func add(_ count: Int, _ name: String) {
            guard let index = Self.names.firstIndex(of: name) else { return }
            counts[index] += count
        }
    }
}
