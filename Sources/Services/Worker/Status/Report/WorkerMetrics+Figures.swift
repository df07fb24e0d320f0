import Pipeline
import Telemetry

// What a report reads back of the metrics. Each figure is copied under its family's own lock, for a moment.

extension WorkerMetrics {
    /// Finished events, by app, outcome and code. Several reasons may make several lines of the same three.
    var outcomeCounts: [(app: String, outcome: String, code: String, count: Int)] {
        ends.counted.compactMap { labels, count in
            guard labels.count >= 3 else { return nil }
            return (labels[0], labels[1], labels[2], Int(count))
        }
    }

    /// Returns the number of events taken from `lane`.
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

    /// The upper bounds of the latencies' buckets, in seconds.
    var latencyBounds: [Double] { latency.bounds }

    /// Returns the number of events of `lane` in each bucket.
    func latencyCounts(_ lane: Lane) -> [Int] { latency.counts(lane.rawValue) }

    /// The accounts at vendors, by name.
    var lookupAccounts: [StatusReport.LookupAccount] { lookups.accounts }
}

extension LookupMetrics {
    /// The accounts that were seen so far, by name.
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
