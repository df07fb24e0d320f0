import Pipeline

/// The figures of the last minute, second by second, so that somebody who looks once sees how fast things go.
struct StatusHistory: Sendable {
    /// The counts since the start, at one moment.
    struct Sample: Sendable {
        var at: ContinuousClock.Instant
        var taken: PerLane<Int>
        var ended: Int
        var minted: Int
        var deadLettered = 0
        var latency: PerLane<[Int]>
    }

    static let length = 61
    /// The period over which a rate is averaged. It follows changes and does not flicker.
    private static let window = Duration.seconds(10)

    private var samples: [Sample] = []

    mutating func add(_ sample: Sample) {
        samples.append(sample)
        if samples.count > Self.length { samples.removeFirst(samples.count - Self.length) }
    }

    var rates: StatusReport.Rates {
        guard let last = samples.last else { return StatusReport.Rates() }
        return StatusReport.Rates(
            seconds: start.map { (last.at - $0.at) / .seconds(1) } ?? 0, ended: rate(\.ended), minted: rate(\.minted),
            endedBySecond: bySecond(\.ended), mintedBySecond: bySecond(\.minted),
            deadLetteredBySecond: bySecond(\.deadLettered))
    }

    /// Returns the growth of a count in each second. A sample that came late stands for each second that has passed.
    private func bySecond(_ count: (Sample) -> Int) -> [Int] {
        let steps = zip(samples, samples.dropFirst()).flatMap { before, after in
            let seconds = max(1, min(Self.length, Int(((after.at - before.at) / .seconds(1)).rounded())))
            let growth = max(0, count(after) - count(before))
            return (0..<seconds).map { growth * ($0 + 1) / seconds - growth * $0 / seconds }
        }
        return steps.suffix(Self.length - 1)
    }

    /// Returns the rate of events taken from `lane`, a second.
    func takenPerSecond(_ lane: Lane) -> Double { rate { $0.taken[lane] } }

    /// Returns the latency of the events of `lane` that finished in the last minute; nil if there were none.
    ///
    /// - Parameter bounds: the buckets' upper bounds.
    func latency(_ lane: Lane, bounds: [Double]) -> StatusReport.Latency? {
        guard let now = samples.last?.latency[lane], let then = samples.first?.latency[lane] else { return nil }
        // Before its first event a lane has no buckets.
        let before = then + Array(repeating: 0, count: max(0, now.count - then.count))
        let counts = zip(now, before).map { max(0, $0 - $1) }
        let count = counts.reduce(0, +)
        guard count > 0 else { return nil }
        return StatusReport.Latency(
            median: Self.quantile(0.5, counts, bounds), p99: Self.quantile(0.99, counts, bounds), count: count)
    }

    /// The sample a rate begins with: the oldest within the window.
    private var start: Sample? {
        guard let last = samples.last else { return nil }
        let first = samples.first { last.at - $0.at <= Self.window }
        return first.flatMap { $0.at < last.at ? $0 : nil }
    }

    private func rate(_ count: (Sample) -> Int) -> Double {
        guard let last = samples.last, let first = start else { return 0 }
        return Double(max(0, count(last) - count(first))) / ((last.at - first.at) / .seconds(1))
    }

    /// Returns the value below which `share` of the observations lie, with the observations of a bucket spread evenly
    /// over it. A value above the last bound counts as that bound, as in Prometheus' histogram_quantile.
    static func quantile(_ share: Double, _ counts: [Int], _ bounds: [Double]) -> Double {
        let rank = share * Double(counts.reduce(0, +))
        var below = 0.0
        for (index, count) in counts.enumerated() where count > 0 {
            guard index < bounds.count else { break }
            if below + Double(count) >= rank {
                let lower = index == 0 ? 0 : bounds[index - 1]
                return lower + (bounds[index] - lower) * max(0, rank - below) / Double(count)
            }
            below += Double(count)
        }
        return bounds.last ?? 0
    }
}

/// The events that finished in the last minute, quarter of an hour and hour, from snapshots of the counts since the start. An event
/// costs nothing here.
struct RecentCounts: Sendable {
    /// The counts of finished events since the start, by app, outcome and code.
    typealias Counts = [Series: Int]

    /// The events with one app, outcome and code.
    struct Series: Hashable, Sendable {
        /// The app's name; empty for events of no configured app and for removed apps.
        var app: String
        var outcome: String
        var code: String
    }

    /// All counts at one moment, in the order of `places`.
    private struct Snapshot: Sendable {
        var at: ContinuousClock.Instant
        var counts: [Int]

        /// Returns the count at `place`; 0 for a series that is newer than the snapshot.
        func count(_ place: Int?) -> Int {
            place.flatMap { counts.indices.contains($0) ? counts[$0] : nil } ?? 0
        }
    }

    /// The distance of the snapshots that the last minute is computed from, and their number.
    private static let (step, steps) = (Duration.seconds(10), 7)
    static let minutes = 60

    private var places: [Series: Int] = [:]
    private var fine: [Snapshot] = []
    private var coarse: [Snapshot] = []

    /// Returns whether a snapshot at `instant` is due.
    func isDue(at instant: ContinuousClock.Instant) -> Bool { fine.last.map { instant - $0.at >= Self.step } ?? true }

    /// Adds a snapshot of `counts`.
    mutating func add(_ counts: Counts, at instant: ContinuousClock.Instant) {
        fold(counts)
        for series in counts.keys where places[series] == nil { places[series] = places.count }
        var snapshot = Snapshot(at: instant, counts: Array(repeating: 0, count: places.count))
        for (series, count) in counts { if let place = places[series] { snapshot.counts[place] = count } }
        fine = fine.suffix(Self.steps - 1) + [snapshot]
        if coarse.last.map({ instant - $0.at >= .seconds(60) }) ?? true {
            coarse = coarse.suffix(Self.minutes - 1) + [snapshot]
        }
    }

    /// Returns the recent events, as `counts` at `instant` are the present counts.
    func recent(_ counts: Counts, at instant: ContinuousClock.Instant) -> StatusReport.Recent {
        var history = self
        history.fold(counts)
        return history.differences(counts, at: instant)
    }

    private func differences(_ counts: Counts, at instant: ContinuousClock.Instant) -> StatusReport.Recent {
        let starts = [60, 900, 3600].map { start(.seconds($0), before: instant) }
        var recent = StatusReport.Recent()
        for (series, count) in counts {
            let place = places[series]
            let grown = starts.map { start in start.map { max(0, count - $0.count(place)) } ?? 0 }
            guard grown.contains(where: { $0 > 0 }) else { continue }
            recent.minute.add(grown[0], series.outcome)
            recent.quarterHour.add(grown[1], series.outcome)
            recent.hour.add(grown[2], series.outcome)
            recent.apps[series.app, default: .init()].add(grown, series.outcome, series.code)
            if series.outcome == Self.dead { recent.deadLetters[series.code, default: 0] += grown[2] }
        }
        (recent.minute.seconds, recent.quarterHour.seconds, recent.hour.seconds) =
            (Self.seconds(starts[0], instant), Self.seconds(starts[1], instant), Self.seconds(starts[2], instant))
        recent.byMinute = byMinute(counts)
        return recent
    }

    /// The events of each minute, the oldest first. The last minute is the present one, of which a part has passed.
    private func byMinute(_ counts: Counts) -> StatusReport.Recent.Series {
        let marks = coarse.map(totals) + (coarse.isEmpty ? [] : [Self.totals(counts)])
        let steps = zip(marks, marks.dropFirst())
        return StatusReport.Recent.Series(
            ended: steps.map { max(0, $1.ended - $0.ended) }, minted: steps.map { max(0, $1.minted - $0.minted) },
            deadLettered: steps.map { max(0, $1.deadLettered - $0.deadLettered) })
    }

    private func totals(_ snapshot: Snapshot) -> StatusReport.Recent.Tally {
        var tally = StatusReport.Recent.Tally()
        for (series, place) in places { tally.add(snapshot.count(place), series.outcome) }
        return tally
    }

    private static func totals(_ counts: Counts) -> StatusReport.Recent.Tally {
        var tally = StatusReport.Recent.Tally()
        for (series, count) in counts { tally.add(count, series.outcome) }
        return tally
    }

    /// Returns the oldest snapshot of the last `window`; nil if there is none before `instant`.
    private func start(_ window: Duration, before instant: ContinuousClock.Instant) -> Snapshot? {
        (coarse + fine).filter { $0.at < instant && instant - $0.at <= window }.min { $0.at < $1.at }
    }

    private static func seconds(_ start: Snapshot?, _ end: ContinuousClock.Instant) -> Double {
        start.map { (end - $0.at) / .seconds(1) } ?? 0
    }

    private static let dead = "dead_lettered"

    /// Moves the past counts of series that are no longer counted, because their app was removed, to the series that has their counts
    /// now. Otherwise all events of a removed app would look recent.
    private mutating func fold(_ counts: Counts) {
        let gone = places.filter { counts[$0.key] == nil }
        guard !gone.isEmpty else { return }
        var kept = Dictionary(places.keys.filter { counts[$0] != nil }.enumerated().map { ($1, $0) }) { first, _ in
            first
        }
        for series in gone.keys {
            let heir = Series(app: "", outcome: series.outcome, code: series.code)
            if kept[heir] == nil { kept[heir] = kept.count }
        }
        func fold(_ snapshot: Snapshot) -> Snapshot {
            var folded = Snapshot(at: snapshot.at, counts: Array(repeating: 0, count: kept.count))
            for (series, place) in places {
                let heir = counts[series] == nil ? Series(app: "", outcome: series.outcome, code: series.code) : series
                if let home = kept[heir] { folded.counts[home] += snapshot.count(place) }
            }
            return folded
        }
        (fine, coarse) = (fine.map(fold), coarse.map(fold))
        places = kept
    }
}
