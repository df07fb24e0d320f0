import AdapterKit
import Formats
import Keyring
import Pipeline
import Synchronization
import Telemetry
import Wiring
import WorkerConfiguration

/// Makes the worker's report from figures that exist anyway: metrics, the status, the rings' folders. It neither asks
/// nor delays the loop, and many viewers cost as much as one.
final class StatusReporter: Sendable {
    private static let freshness = Duration.milliseconds(500)

    /// The share of dead letters above which events count as degraded, as in the alert `RemintDeadLetters`.
    private static let mostDead = 0.05

    /// The share of failed mints above which an app counts as without tokens, as in the alert `RemintMintsFail`, and the fewest
    /// of them.
    private static let (mostFailed, leastFailures) = (0.5, 10)

    private let status: WorkerStatus
    private let metrics: WorkerMetrics
    private let rings: RingReader
    private let group: String
    private let runbook: String?
    private let build: BuildInfo
    private let now: @Sendable () -> UnixTime
    private let started: UnixTime
    private let history = Mutex(StatusHistory())
    private let recents = Mutex(RecentCounts())
    private let last = Mutex<(made: ContinuousClock.Instant, json: [UInt8])?>(nil)

    /// A reporter of the worker that `status` and `metrics` are about.
    ///
    /// - Parameters:
    ///   - keys: the key rings at a moment; by default those of `configuration`.
    ///   - build: the program that the worker runs in.
    ///   - started: the worker's start; nil for the present time.
    init(
        _ configuration: Configuration, status: WorkerStatus, metrics: WorkerMetrics,
        keys: (@Sendable () -> [Configuration.Key])? = nil, build: BuildInfo = BuildInfo(),
        started: UnixTime? = nil, now: @escaping @Sendable () -> UnixTime
    ) {
        self.build = build
        self.status = status
        self.metrics = metrics
        self.now = now
        let places = configuration.ringPlaces
        rings = RingReader { keys?().map { RingReader.Place(name: $0.name, path: $0.path) } ?? places }
        group = configuration.kafka.group
        runbook = configuration.admin?.runbook
        self.started = started ?? now()
    }

    func run() async {
        while !Task.isCancelled {
            note(at: .now)
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Records the counts at `instant`, and whether every app gets tokens.
    func note(at instant: ContinuousClock.Instant) {
        let counted = metrics.outcomeCounts
        let sample = StatusHistory.Sample(
            at: instant, taken: PerLane { metrics.taken($0) }, ended: counted.reduce(0) { $0 + $1.count },
            minted: counted.reduce(0) { $0 + ($1.outcome == "minted" ? $1.count : 0) },
            deadLettered: counted.reduce(0) { $0 + ($1.outcome == "dead_lettered" ? $1.count : 0) },
            latency: PerLane { metrics.latencyCounts($0) })
        history.withLock { $0.add(sample) }
        guard recents.withLock({ $0.isDue(at: instant) }) else { return }
        let counts = RecentCounts.Counts(counted)
        recents.withLock { $0.add(counts, at: instant) }
        status.set(.minting, mintTrouble(in: recentApps(counts, at: instant)))
    }

    /// The report as `/status` answers it, at most half a second old.
    var json: [UInt8] {
        last.withLock { last in
            if let last, .now - last.made < Self.freshness { return last.json }
            let json = report().json
            last = (.now, json)
            return json
        }
    }

    /// Returns the report at `instant`, which is now.
    func report(at instant: ContinuousClock.Instant = .now) -> StatusReport {
        let (history, time) = (history.withLock { $0 }, now())
        var (all, unattributed) = (StatusReport.Outcomes(), StatusReport.Outcomes())
        var apps = status.apps.map { StatusReport.App(status: $0, outcomes: .init(), deadLetters: [:]) }
        let places = Dictionary(apps.indices.map { (apps[$0].status.name, $0) }) { first, _ in first }
        var strays: [String: Int] = [:]
        let counts = metrics.outcomeCounts
        for counted in counts {
            all.add(counted.count, counted.outcome)
            guard let place = places[counted.app] else {
                unattributed.add(counted.count, counted.outcome)
                if counted.outcome == "dead_lettered", counted.count > 0 {
                    strays[counted.code, default: 0] += counted.count
                }
                continue
            }
            apps[place].outcomes.add(counted.count, counted.outcome)
            if counted.outcome == "dead_lettered", counted.count > 0 {
                apps[place].deadLetters[counted.code, default: 0] += counted.count
            }
        }
        let recent = recents.withLock { $0 }.recent(RecentCounts.Counts(counts), at: instant)
        var recentStrays = StatusReport.Recent.App()
        for (name, app) in recent.apps where places[name] == nil { recentStrays.add(app) }
        func times<Part>(_ begins: [Part: ContinuousClock.Instant]) -> [Part: UnixTime] {
            begins.mapValues { time.advanced(bySeconds: -max(0, (instant - $0).components.seconds)) }
        }
        return StatusReport(
            at: time,
            worker: StatusReport.Worker(
                name: status.name, group: group, build: build, started: started, problems: status.problems,
                problemsSince: times(status.problemsSince), degraded: status.degradations.reasons(),
                degradedSince: times(status.degradations.begins()), runbook: runbook, isQuiet: status.isQuiet,
                sinceHeartbeat: status.sinceHeartbeat.components.seconds),
            rates: history.rates, recent: recent, lanes: Lane.allCases.map { flow($0, history) }, outcomes: all,
            unattributed: unattributed, unattributedDeadLetters: strays, unattributedRecent: recentStrays, apps: apps,
            rings: rings.read(), lookups: metrics.lookupAccounts)
    }

    /// The reason why events count as degraded; nil while few events of the configured apps are dead letters, of the last
    /// 15 minutes. Events of strangers do not count: no user of an app waits for them.
    var deadLetterExcess: String? {
        let recent = recentApps(RecentCounts.Counts(metrics.outcomeCounts), at: .now)
        var (tally, letters) = (StatusReport.Recent.Tally(), Set<String>())
        for app in recent.values {
            tally.ended += app.quarterHour.ended
            tally.deadLettered += app.quarterHour.deadLettered
            letters.formUnion(app.deadLetters.filter { $0.value > 0 }.keys)
        }
        guard Double(tally.deadLettered) > Self.mostDead * Double(tally.ended) else { return nil }
        let codes = letters.sorted().joined(separator: ", ")
        return "\(tally.deadLettered) of \(tally.ended.of("event")) in the last 15 minutes are dead letters: \(codes)"
    }

    /// Returns the reason why one of `apps` counts as without tokens: most of its events of the last minute end as `mint_failed`.
    private func mintTrouble(in apps: [String: StatusReport.Recent.App]) -> String? {
        let troubled = apps.filter { $0.value.mintFailed >= Self.leastFailures }
            .filter { Double($0.value.mintFailed) > Self.mostFailed * Double($0.value.minute.ended) }
        guard let (name, app) = troubled.min(by: { $0.key < $1.key }) else { return nil }
        let others = troubled.count == 1 ? "" : "; and of \((troubled.count - 1).of("other app"))"
        let share = "\(app.mintFailed) of \(app.minute.ended.of("event")) of \(name) in the last minute"
        return
            "\(share) end as mint_failed\(others): tokens cannot be signed, or the token topic accepts none of their size; see remint topics check, and remint dead-letters list --code mint_failed"
    }

    /// Returns the recent events of the configured apps, as `counts` at `instant` are the present counts.
    private func recentApps(
        _ counts: RecentCounts.Counts, at instant: ContinuousClock.Instant
    ) -> [String: StatusReport.Recent.App] {
        let names = Set(status.apps.map(\.name))
        return recents.withLock { $0 }.recent(counts, at: instant).apps.filter { names.contains($0.key) }
    }

    private func flow(_ lane: Lane, _ history: StatusHistory) -> StatusReport.LaneFlow {
        let lag = metrics.lag(lane)
        return StatusReport.LaneFlow(
            lane: lane, taken: metrics.taken(lane), takenPerSecond: history.takenPerSecond(lane),
            queued: metrics.queued(lane), lag: lag.records, partitions: lag.partitions, oldest: metrics.oldest(lane),
            latency: history.latency(lane, bounds: metrics.latencyBounds),
            pause: status.lanePauses.first { $0.lane == lane })
    }
}

extension RecentCounts.Counts {
    /// The counts of `counted`, without the vendors' reasons.
    fileprivate init(_ counted: [(app: String, outcome: String, code: String, count: Int)]) {
        self = counted.reduce(into: [:]) { counts, next in
            counts[RecentCounts.Series(app: next.app, outcome: next.outcome, code: next.code), default: 0] += next.count
        }
    }
}

// What a report reads back of the metrics. Each figure is copied under its family's own lock, for a moment.

extension WorkerMetrics {
    /// Finished events, by app, outcome and code. Several reasons may make several lines of the same three.
    var outcomeCounts: [(app: String, outcome: String, code: String, count: Int)] {
        ends.counted.compactMap { labels, count in
            guard labels.count >= 3 else { return nil }
            return (labels[0], labels[1], labels[2], Int(count))
        }
    }

    func taken(_ lane: Lane) -> Int { Int(events.value(lane.rawValue)) }

    /// Returns the number of events that were taken from `lane` and are not in work.
    func queued(_ lane: Lane) -> Int { Int(queued.all[[lane.rawValue]] ?? 0) }

    /// Returns the age of the oldest event of `lane` that was consumed and has no outcome yet, in seconds.
    func oldest(_ lane: Lane) -> Double { oldest.all[[lane.rawValue]] ?? 0 }

    /// Returns the number of records of `lane` that have not finished, and of their partitions.
    func lag(_ lane: Lane) -> (records: Int, partitions: Int) {
        let values = partitions.lag.all.filter { $0.key.first == lane.rawValue }.values
        return (values.reduce(0) { $0 + Int($1) }, values.count)
    }

    var latencyBounds: [Double] { latency.bounds }

    func latencyCounts(_ lane: Lane) -> [Int] { latency.counts(lane.rawValue) }

    var lookupAccounts: [StatusReport.LookupAccount] { lookups.accounts }
}

extension LookupMetrics {
    fileprivate var accounts: [StatusReport.LookupAccount] {
        let (waiting, inFlight) = (waiting.all, inFlight.all)
        let states = circuit.all.filter { $0.value == 1 && $0.key.count == 2 }.map { ($0.key[0], $0.key[1]) }
        return states.sorted { $0 < $1 }.map { account, state in
            StatusReport.LookupAccount(
                account: account, circuit: state, queued: Int(waiting[[account]] ?? 0),
                inFlight: Int(inFlight[[account]] ?? 0))
        }
    }
}
