import Synchronization

/// The metrics of a process, in Prometheus' text format.
///
/// Families are made once, at the start; values are added in batches, so that no event takes a lock of its own.
public final class MetricsRegistry: Sendable {
    private let families = Mutex<[any MetricFamily]>([])
    private let apps = AppSeries()
    private let readers = Mutex<[@Sendable () -> Void]>([])

    /// A registry without metrics.
    public init() {}

    /// Adds a family of values that only grow; its name ends in `_total`.
    ///
    /// - Parameter remainder: returns the label values under which the family keeps the counts that it no longer
    ///   exposes; nil to forget them.
    public func counter(
        _ name: String, _ help: String, labels: [String] = [], remainder: (@Sendable ([String]) -> [String])? = nil
    ) -> CounterFamily {
        add(CounterFamily(description: MetricDescription(name: name, help: help, labels: labels), remainder: remainder))
    }

    /// Adds a family of values that grow and shrink.
    public func gauge(_ name: String, _ help: String, labels: [String] = []) -> GaugeFamily {
        add(GaugeFamily(description: MetricDescription(name: name, help: help, labels: labels)))
    }

    /// Adds a family of distributions.
    ///
    /// - Parameter buckets: upper bounds, growing.
    public func histogram(
        _ name: String, _ help: String, labels: [String] = [], buckets: [Double]
    ) -> HistogramFamily {
        add(HistogramFamily(description: MetricDescription(name: name, help: help, labels: labels), bounds: buckets))
    }

    /// Adds `work`, which is called before each exposition, for a caller that counts elsewhere and writes the counts
    /// only then. The registry keeps `work` as long as it exists.
    public func beforeReading(_ work: @escaping @Sendable () -> Void) { readers.withLock { $0.append(work) } }

    /// Forgets the series of every family with the label `name`, except those whose value `isKept` accepts, so that
    /// removed things have no series.
    public func keep(_ name: String, where isKept: (String) -> Bool) {
        for family in families.withLock({ $0 }) {
            guard let place = family.description.labels.firstIndex(of: name) else { continue }
            family.keep { $0.indices.contains(place) && isKept($0[place]) }
        }
    }

    private func add<Family: MetricFamily>(_ family: Family) -> Family {
        families.withLock { $0.append(family) }
        return family
    }

    /// A row for each family, as Markdown, by name: its kind, its labels, its meaning.
    public var table: [String] {
        families.withLock { $0 }.map { family in
            let description = family.description
            let labels = description.labels.map { "`\($0)`" }.joined(separator: ", ")
            let says = description.help.hasSuffix(".") ? String(description.help.dropLast()) : description.help
            return "| `\(description.name)` | \(family.kind) | \(labels) | \(says) |"
        }.sorted()
    }

    /// Returns all metrics, in the order in which their families were added (Prometheus' text format, version 0.0.4).
    public func exposition() -> String {
        for work in readers.withLock({ $0 }) { work() }
        var text = ""
        for family in families.withLock({ $0 }) { family.write(apps, to: &text) }
        return text
    }
}

struct MetricDescription: Sendable {
    let name: String
    let help: String
    let labels: [String]

    func writeHeader(_ type: String, to text: inout String) {
        let line = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        text += "# HELP \(name) \(line)\n# TYPE \(name) \(type)\n"
    }

    /// Writes a sample; `more` is a label that the format itself requires.
    func writeSample(
        _ suffix: String, _ values: [String], _ more: (name: String, value: String)? = nil, _ number: Double,
        to text: inout String
    ) {
        var pairs = zip(labels, values).map { "\($0)=\"\(Self.escaped($1))\"" }
        if let more { pairs.append("\(more.name)=\"\(more.value)\"") }
        let block = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        text += "\(name)\(suffix)\(block) \(Self.number(number))\n"
    }

    static func number(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Inf" : "+Inf" }
        return number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }

    /// Returns a label value with three characters escaped; label values may contain any text.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

/// A family of metrics: one name, several label values.
protocol MetricFamily: Sendable {
    var description: MetricDescription { get }
    /// The family's type, as Prometheus names it.
    var kind: String { get }
    /// Forgets the series whose label values `isKept` does not name.
    func keep(where isKept: ([String]) -> Bool)
    func write(_ apps: AppSeries, to text: inout String)
}

/// The apps that have series of their own where there are very many apps. The first 500 with a value other than 0 keep
/// their series until the process ends, so that no counter falls; the sum of the others has the value `other` in the
/// label `app`.
final class AppSeries: Sendable {
    static let most = 500
    static let rest = "other"
    /// Events that name no configured app.
    private static let unknown = "unknown"

    private let shown = Mutex<Set<String>>([])

    /// Returns `values` with a sum in place of the series of the other apps; `values` itself if there are few.
    ///
    /// - Parameter labels: the names of the label values.
    func fold<Value>(
        _ values: [[String]: Value], _ labels: [String], isZero: (Value) -> Bool, _ add: (inout Value, Value) -> Void
    ) -> [[String]: Value] {
        guard let place = labels.firstIndex(of: "app"), values.count > Self.most else { return values }
        guard Set(values.keys.map { $0[place] }).count > Self.most else { return values }
        let shown = shown.withLock { shown in
            for (labels, value) in values
            where shown.count < Self.most && labels[place] != Self.unknown && !isZero(value) {
                shown.insert(labels[place])
            }
            return shown
        }
        return values.reduce(into: [:]) { folded, entry in
            var (labels, value) = entry
            if !shown.contains(labels[place]), labels[place] != Self.unknown { labels[place] = Self.rest }
            if let sum = folded[labels] {
                add(&value, sum)
            }
            folded[labels] = value
        }
    }
}
