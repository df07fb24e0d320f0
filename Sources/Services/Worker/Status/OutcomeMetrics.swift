import AdapterKit
import Pipeline
import Synchronization
import Telemetry
import Wiring
import WorkerConfiguration

/// The outcomes of events, by app. The worker counts them as they become visible and writes them out when somebody
/// reads the metrics. It does not build the labels of a thousand apps for each transaction.
final class OutcomeMetrics: Sendable {
    private let outcomes = CounterFamily(
        "remint_outcomes_total",
        "Outcomes, final or deferred, by outcome, code of the outcome, and the vendor's name for the failure.",
        labels: ["app", "outcome", "code", "reason"],
        // Apps that are no more have outcomes, too.
        remainder: { labels in ["", labels[1], labels[2], ""] })
    private let reports = CounterFamily(
        "remint_reports_total",
        "Reports, by signer: the state of the key version that signed the token in the report (active, passive, prepared, retired), foreign for any other, or none if the report needs no token.",
        labels: ["app", "signer"])
    private let unkeyed = CounterFamily(
        "remint_unkeyed_events_total", "Events without a key; any worker may get them.", labels: ["app"])
    private let coalesced = CounterFamily(
        "remint_coalesced_total",
        "Superseded events that the worker answered together with another event of the same failure.",
        labels: ["app"])
    private let superseded = CounterFamily(
        "remint_superseded_total", "Superseded events that are not in remint_coalesced_total.", labels: ["app"])
    private let minted = CounterFamily(
        "remint_minted_total", "Tokens that the worker published.", labels: ["app", "algorithm"])
    private let clockSkew = CounterFamily(
        "remint_clock_skew_total",
        "Reports that a token has expired, although the user's token has not: a clock is wrong, or an SDK names the wrong token.",
        labels: ["app"])
    private let unreadableTimes = CounterFamily(
        "remint_unreadable_times_total",
        "Events whose stated time of the failure is no RFC 3339 date-time; the record's timestamp counts instead.",
        labels: ["app"])
    private let tally = Mutex(Tally<OutcomeLabels>())
    private let writing = Mutex(())

    init(_ registry: MetricsRegistry) {
        registry.beforeReading { [self] in write() }
        registry.add(familiesOf: self)
    }

    /// Exposes the series of `apps`, and of events without a configured app, before their first event.
    func begin(_ apps: [Configuration.App]) {
        for app in apps {
            for outcome in Outcome.names { outcomes.add(0, app.name, outcome, "", "") }
            for signer in TokenSigner.allCases { reports.add(0, app.name, signer.rawValue) }
            for family in [unkeyed, coalesced, superseded, clockSkew, unreadableTimes] { family.add(0, app.name) }
            minted.add(0, app.name, app.adapter.algorithm.rawValue)
        }
        let unknown = Outcome.deadLettered(.unknownApp)
        outcomes.add(0, Configuration.App.unknown, unknown.name, unknown.code, "")
    }

    func count(_ settlements: some Sequence<Settlement>) {
        tally.withLock { tally in for settlement in settlements { tally.count(OutcomeLabels(settlement)) } }
    }

    /// Counts events that arrived without a key.
    func countUnkeyed(_ app: String, _ count: Int) { unkeyed.add(count, app) }

    /// The counts so far, by app, outcome, code and reason. The counts of removed apps have no app and no reason.
    var counted: [[String]: Double] {
        write()
        return outcomes.all
    }

    /// Writes the counts to the metrics, and forgets their names, which may be of removed apps.
    func forgetNames() { write(isFinal: true) }

    /// - Parameter isFinal: whether to forget the names of the counts too.
    private func write(isFinal: Bool = false) {
        // Whoever reads next finds in the counters what was taken from the tally here.
        writing.withLock { _ in
            let ends = tally.withLock { tally in
                defer { if isFinal { tally = Tally() } else { tally.reset() } }
                return tally
            }
            outcomes.add(ends.counts { [$0.app, $0.outcome.name, $0.outcome.code, $0.reason] })
            reports.add(ends.counts { end in end.signer.map { [end.app, $0.rawValue] } })
            coalesced.add(ends.counts { $0.isSuperseded(together: true) ? [$0.app] : nil })
            superseded.add(ends.counts { $0.isSuperseded(together: false) ? [$0.app] : nil })
            clockSkew.add(ends.counts { $0.isClockSkew ? [$0.app] : nil })
            unreadableTimes.add(ends.counts { $0.hasUnreadableTime ? [$0.app] : nil })
            minted.add(
                ends.counts { end in
                    guard let algorithm = end.algorithm, end.outcome == .minted else { return nil }
                    return [end.app, algorithm.rawValue]
                })
        }
    }
}

/// The labels of an event's outcome in metrics.
private struct OutcomeLabels: Hashable {
    let app: String
    let outcome: Outcome
    let algorithm: Algorithm?
    /// The vendor's name of the failure, one of the adapter's own; empty where no report was understood.
    let reason: String
    let signer: TokenSigner?
    let isClockSkew: Bool
    let hasUnreadableTime: Bool

    init(_ settlement: Settlement) {
        app = settlement.app ?? Configuration.App.unknown
        // Why it was skipped is text of any kind and no label.
        outcome = if case .skipped = settlement.outcome { .skipped("") } else { settlement.outcome }
        algorithm = settlement.algorithm
        reason = settlement.reason ?? ""
        signer = settlement.signer
        isClockSkew = settlement.isClockSkew
        hasUnreadableTime = settlement.hasUnreadableTime
    }

    /// Returns whether a newer token answers it: one that was made for several reports together, or an earlier one.
    func isSuperseded(together: Bool) -> Bool {
        if case .superseded(let why) = outcome { why.isCoalesced == together } else { false }
    }
}

/// Counts how often each thing came; with a thousand apps there are a thousand kinds.
struct Tally<Thing: Hashable> {
    private var entries: [(thing: Thing, count: Int)] = []
    /// The index of each thing in `entries`.
    private var places: [Thing: Int] = [:]

    mutating func count(_ thing: Thing) {
        if let place = places[thing] {
            entries[place].count += 1
        } else {
            places[thing] = entries.count
            entries.append((thing, 1))
        }
    }

    /// Returns the counts with their labels, which may occur several times. It leaves out things without labels and
    /// things that were not counted.
    func counts(_ labels: (Thing) -> [String]?) -> [(key: [String], value: Int)] {
        entries.compactMap { thing, count in count > 0 ? labels(thing).map { ($0, count) } : nil }
    }

    mutating func reset() { for index in entries.indices { entries[index].count = 0 } }
}

/// The times from report to published token, by app.
struct AnswerMetrics: Sendable {
    private let seconds = HistogramFamily(
        "remint_answer_seconds", "Time from the first report of a failure until its token is on the token topic.",
        labels: ["app"], buckets: RecoveryTime.buckets)

    init(_ registry: MetricsRegistry) {
        registry.add(familiesOf: self)
    }

    /// Exposes the series of `app`, before its first token.
    func begin(_ app: String) { seconds.begin(app) }

    func count(_ settlements: some Sequence<Settlement>, at now: UnixTime) {
        var times: [String: [Double]] = [:]
        for settlement in settlements {
            guard let reported = settlement.reportedAt, let app = settlement.app else { continue }
            times[app, default: []].append(RecoveryTime.seconds(from: reported, to: now))
        }
        for (app, times) in times { seconds.observe(times, [app]) }
    }
}
