import Synchronization

/// The metrics of a process, in Prometheus' text format.
///
/// Families are made once, at the start; values are added in batches, so that no event takes a lock of its own. A family
/// is declared as a property, with its name and its meaning, and `add(familiesOf:)` adds all of them.
public final class MetricsRegistry: Sendable {
    private let families = Mutex<[any MetricFamily]>([])
    private let apps = AppSeries()
    private let readers = Mutex<[@Sendable () -> Void]>([])

    public init() {}

    /// Adds a family of values that only grow; its name ends in `_total`.
    ///
    /// - Parameter remainder: returns the label values under which the family keeps the counts that it no longer
    ///   exposes; nil to forget them.
    public func counter(
        _ name: String, _ help: String, labels: [String] = [], remainder: (@Sendable ([String]) -> [String])? = nil
    ) -> CounterFamily {
        add(CounterFamily(name, help, labels: labels, remainder: remainder))
    }

    public func gauge(_ name: String, _ help: String, labels: [String] = []) -> GaugeFamily {
        add(GaugeFamily(name, help, labels: labels))
    }

    /// Adds a family of distributions.
    ///
    /// - Parameter buckets: upper bounds, growing.
    public func histogram(
        _ name: String, _ help: String, labels: [String] = [], buckets: [Double]
    ) -> HistogramFamily {
        add(HistogramFamily(name, help, labels: labels, buckets: buckets))
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

    /// Adds the families that are properties of `owner` and have not been added, in the order of their declarations.
    public func add(familiesOf owner: Any) {
        let names = Set(families.withLock { $0 }.map(\.description.name))
        for case let family as any MetricFamily in Mirror(reflecting: owner).children.map(\.value)
        where !names.contains(family.description.name) {
            _ = add(family)
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
    var kind: String { get }
    /// Forgets the series whose label values `isKept` does not name.
    func keep(where isKept: ([String]) -> Bool)
    func write(_ apps: AppSeries, to text: inout String)
}

extension MetricFamily {
    fileprivate func write(_ values: [[String]: Double], _ apps: AppSeries, to text: inout String) {
        description.writeHeader(kind, to: &text)
        let told = apps.fold(values, description.labels, isZero: { $0 == 0 }, +=)
        for (labels, value) in told.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            description.writeSample("", labels, nil, value, to: &text)
        }
    }
}

/// The apps that have series of their own where there are very many apps. The first 500 with a value other than 0 keep
/// their series until the process ends, so that no counter falls; the sum of the others has the value `other` in the
/// label `app`.
final class AppSeries: Sendable {
    static let most = 500
    static let rest = "other"
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

/// Values that only grow.
public final class CounterFamily: MetricFamily {
    /// The exposed values, and the sums of values that are no longer exposed. One lock covers both, so that a value
    /// moves from one to the other at once.
    private struct Counts {
        var told: [[String]: Double] = [:]
        var remainders: [[String]: Double] = [:]
    }

    let description: MetricDescription
    private let remainder: (@Sendable ([String]) -> [String])?
    private let values = Mutex(Counts())

    /// A family whose name ends in `_total`.
    ///
    /// - Parameter remainder: returns the label values under which `all` keeps the counts that are no longer exposed;
    ///   nil to forget them.
    public init(
        _ name: String, _ help: String, labels: [String] = [], remainder: (@Sendable ([String]) -> [String])? = nil
    ) {
        description = MetricDescription(name: name, help: help, labels: labels)
        self.remainder = remainder
    }

    public func add(_ count: Int = 1, _ labels: String...) { add([labels: count]) }

    public func add(_ counts: some Sequence<(key: [String], value: Int)>) {
        values.withLock { values in
            for (labels, count) in counts { values.told[labels, default: 0] += Double(max(0, count)) }
        }
    }

    /// Sets the value to `total`, which is counted elsewhere and only grows.
    public func raise(to total: Double, _ labels: String...) {
        values.withLock { $0.told[labels] = max(total, $0.told[labels] ?? 0) }
    }

    /// Stops exposing the values whose labels `isKept` rejects. If they are counted again, they begin at zero.
    func keep(where isKept: ([String]) -> Bool) {
        values.withLock { values in
            for (labels, count) in values.told where !isKept(labels) {
                values.told[labels] = nil
                if let remainder { values.remainders[remainder(labels), default: 0] += count }
            }
        }
    }

    /// Returns the value with these label values; 0 where there is none yet.
    public func value(_ labels: String...) -> Double { values.withLock { $0.told[labels] ?? 0 } }

    /// Every value, by its label values, with the remainders of those that are no longer set.
    public var all: [[String]: Double] {
        values.withLock { $0.told.merging($0.remainders, uniquingKeysWith: +) }
    }

    let kind = "counter"

    func write(_ apps: AppSeries, to text: inout String) { write(values.withLock { $0.told }, apps, to: &text) }
}

/// Values that go up and down.
public final class GaugeFamily: MetricFamily {
    let description: MetricDescription
    private let values = Mutex<[[String]: Double]>([:])

    /// A family without values yet.
    public init(_ name: String, _ help: String, labels: [String] = []) {
        description = MetricDescription(name: name, help: help, labels: labels)
    }

    public func set(_ value: Double, _ labels: String...) { values.withLock { $0[labels] = value } }

    func keep(where isKept: ([String]) -> Bool) { values.withLock { $0 = $0.filter { isKept($0.key) } } }

    /// Replaces all values, and forgets those that `new` does not contain.
    public func replace(_ new: [[String]: Double]) { values.withLock { $0 = new } }

    /// Replaces all values. Of two with the same labels, the first one counts.
    public func replace(_ pairs: [([String], Double)]) { replace(Dictionary(pairs) { first, _ in first }) }

    public var all: [[String]: Double] { values.withLock { $0 } }

    let kind = "gauge"

    func write(_ apps: AppSeries, to text: inout String) { write(all, apps, to: &text) }
}

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

    /// - Parameter buckets: upper bounds, growing.
    public init(_ name: String, _ help: String, labels: [String] = [], buckets: [Double]) {
        description = MetricDescription(name: name, help: help, labels: labels)
        bounds = buckets
    }

    private var empty: Distribution { Distribution(counts: Array(repeating: 0, count: bounds.count + 1)) }

    /// Exposes the distribution with these label values from now on, even before its first observation.
    public func begin(_ labels: String...) { values.withLock { $0[labels] = $0[labels] ?? empty } }

    public func observe(_ observation: Double, _ labels: String...) { observe([observation], labels) }

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

    func write(_ apps: AppSeries, to text: inout String) {
        description.writeHeader(kind, to: &text)
        let told = apps.fold(values.withLock { $0 }, description.labels, isZero: { $0.counts.allSatisfy { $0 == 0 } }) {
            sum, other in
            for place in sum.counts.indices { sum.counts[place] += other.counts[place] }
            sum.sum += other.sum
        }
        for (labels, value) in told.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
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
