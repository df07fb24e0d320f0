/// The metrics that a program exposed at one moment.
struct Exposition: Sendable {
    struct Sample: Sendable {
        let name: String
        /// The labels as they are written, without braces.
        let labels: String
        let value: Double
    }

    private(set) var samples: [Sample] = []
    private var counters: Set<Substring> = []

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                if words.count == 4, words[3] != "gauge" { counters.insert(words[2]) }
                continue
            }
            guard !line.hasPrefix("#"), let end = line.lastIndex(of: " "),
                let value = Double(line[line.index(after: end)...])
            else { continue }
            let series = line[..<end]
            let name = series.prefix { $0 != "{" }
            let labels = series.dropFirst(name.count + 1).dropLast()
            samples.append(Sample(name: String(name), labels: String(labels), value: value))
        }
    }

    /// Returns whether `sample` only grows.
    func isCounter(_ sample: Sample) -> Bool {
        let base = ["_bucket", "_count", "_sum"].first { sample.name.hasSuffix($0) }
        return counters.contains(sample.name[...])
            || base.map { counters.contains(sample.name.dropLast($0.count)) } ?? false
    }

    /// Whether all dependencies of the program are ready.
    var areDependenciesReady: Bool {
        let values = samples.filter { ["remint_ready", "remint_pickup_ready"].contains($0.name) }.map(\.value)
        return !values.isEmpty && values.allSatisfy { $0 == 1 }
    }

    /// Returns whether a series of `metric` is within its bound. A least value is of the growth since `before`.
    func shows(_ metric: FaultMetric, since before: Exposition?) -> Bool {
        let (old, new) = (before?.values(of: metric) ?? [:], values(of: metric))
        return switch metric.bound {
        case .equal(let value): new.values.contains(value)
        case .atLeast(let value): new.contains { $0.value - old[$0.key, default: 0] >= value }
        case .absent: new.isEmpty
        }
    }

    /// Returns the values of the series of `metric`, by their labels.
    private func values(of metric: FaultMetric) -> [String: Double] {
        let found = samples.filter { sample in
            sample.name == metric.name && metric.labels.allSatisfy { sample.labels.contains($0) }
        }
        return Dictionary(found.map { ($0.labels, $0.value) }) { first, _ in first }
    }
}
