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

    /// The length of the history, in samples.
    static let length = 61
    /// The period over which a rate is averaged. It follows changes and does not flicker.
    private static let window = Duration.seconds(10)

    private var samples: [Sample] = []

    /// Adds the present counts, and forgets those older than the last minute.
    mutating func add(_ sample: Sample) {
        samples.append(sample)
        if samples.count > Self.length { samples.removeFirst(samples.count - Self.length) }
    }

    /// The rates of the last seconds.
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
