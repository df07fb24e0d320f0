import Synchronization

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

    /// - Parameter remainder: returns the label values under which `all` keeps the counts that are no longer exposed;
    ///   nil to forget them.
    init(description: MetricDescription, remainder: (@Sendable ([String]) -> [String])? = nil) {
        self.description = description
        self.remainder = remainder
    }

    /// Adds `count` to the value with these label values.
    public func add(_ count: Int = 1, _ labels: String...) { add([labels: count]) }

    /// Adds several counts at once, with their label values.
    public func add(_ counts: some Sequence<(key: [String], value: Int)>) {
        values.withLock { values in
            for (labels, count) in counts { values.told[labels, default: 0] += Double(max(0, count)) }
        }
    }

    /// Sets the value to `total`, which is counted elsewhere and only grows.
    func raise(to total: Double, _ labels: String...) {
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

    private func told(_ apps: AppSeries) -> [[String]: Double] {
        apps.fold(values.withLock { $0.told }, description.labels, isZero: { $0 == 0 }, +=)
    }

    func write(_ apps: AppSeries, to text: inout String) {
        description.writeHeader(kind, to: &text)
        for (labels, value) in told(apps).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            description.writeSample("", labels, nil, value, to: &text)
        }
    }
}

/// Values that go up and down.
public final class GaugeFamily: MetricFamily {
    let description: MetricDescription
    private let values = Mutex<[[String]: Double]>([:])

    init(description: MetricDescription) { self.description = description }

    public func set(_ value: Double, _ labels: String...) { values.withLock { $0[labels] = value } }

    func keep(where isKept: ([String]) -> Bool) { values.withLock { $0 = $0.filter { isKept($0.key) } } }

    /// Replaces all values, and forgets those that `new` does not contain.
    public func replace(_ new: [[String]: Double]) { values.withLock { $0 = new } }

    /// Every value, by its label values.
    public var all: [[String]: Double] { values.withLock { $0 } }

    let kind = "gauge"

    private func told(_ apps: AppSeries) -> [[String]: Double] {
        apps.fold(all, description.labels, isZero: { $0 == 0 }, +=)
    }

    func write(_ apps: AppSeries, to text: inout String) {
        description.writeHeader(kind, to: &text)
        for (labels, value) in told(apps).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            description.writeSample("", labels, nil, value, to: &text)
        }
    }
}
