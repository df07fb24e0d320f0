import Synchronization

/// Distributions over fixed buckets.
public final class HistogramFamily: MetricFamily {
    private struct Distribution {
        /// The counts of the buckets: one for each bound, and a last one for values above all bounds.
        var counts: [Int]
        var sum = 0.0
    }

    let description: MetricDescription
    /// The buckets' upper bounds, growing.
    public let bounds: [Double]
    private let values = Mutex<[[String]: Distribution]>([:])

    init(description: MetricDescription, bounds: [Double]) {
        self.description = description
        self.bounds = bounds
    }

    private var empty: Distribution { Distribution(counts: Array(repeating: 0, count: bounds.count + 1)) }

    /// Exposes the distribution with these label values from now on, even before its first observation.
    public func begin(_ labels: String...) { values.withLock { $0[labels] = $0[labels] ?? empty } }

    public func observe(_ observation: Double, _ labels: String...) { observe([observation], labels) }

    /// Adds observations with the same label values, under one lock.
    public func observe(_ observations: [Double], _ labels: [String]) {
        guard !observations.isEmpty else { return }
        values.withLock { values in
            var distribution = values[labels] ?? empty
            // Taken out meanwhile, so that it is changed in place.
            values[labels] = nil
            for observation in observations {
                distribution.counts[bounds.firstIndex { observation <= $0 } ?? bounds.count] += 1
                distribution.sum += observation
            }
            values[labels] = distribution
        }
    }

    /// Returns the numbers of observations with these label values in each bucket, and above the last; empty where
    /// there are none yet.
    public func counts(_ labels: String...) -> [Int] { values.withLock { $0[labels]?.counts ?? [] } }

    func keep(where isKept: ([String]) -> Bool) { values.withLock { $0 = $0.filter { isKept($0.key) } } }

    let kind = "histogram"

    private func told(_ apps: AppSeries) -> [[String]: Distribution] {
        apps.fold(values.withLock { $0 }, description.labels, isZero: { $0.counts.allSatisfy { $0 == 0 } }) {
            sum, other in
            for place in sum.counts.indices { sum.counts[place] += other.counts[place] }
            sum.sum += other.sum
        }
    }

    func write(_ apps: AppSeries, to text: inout String) {
        description.writeHeader(kind, to: &text)
        for (labels, value) in told(apps).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var below = 0
            for (bound, count) in zip(bounds + [.infinity], value.counts) {
                below += count
                description.writeSample(
                    "_bucket", labels, ("le", MetricDescription.number(bound)), Double(below), to: &text)
            }
            description.writeSample("_sum", labels, nil, value.sum, to: &text)
            description.writeSample("_count", labels, nil, Double(below), to: &text)
        }
    }
}
