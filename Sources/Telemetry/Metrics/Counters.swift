import Synchronization

/// Values that only grow.
public final class CounterFamily: MetricFamily {
    let description: MetricDescription
    private let values = Mutex<[[String]: Double]>([:])

    init(description: MetricDescription) { self.description = description }

    /// Adds `count` to the value with these label values.
    public func add(_ count: Int = 1, _ labels: String...) { add([labels: count]) }

    /// Adds several counts at once, with their label values.
    public func add(_ counts: some Sequence<(key: [String], value: Int)>) {
        values.withLock { values in
            for (labels, count) in counts { values[labels, default: 0] += Double(max(0, count)) }
        }
    }

    /// Takes out the values whose label values `isGone` names; were they counted again, they would begin at zero.
    @discardableResult
    public func remove(where isGone: ([String]) -> Bool) -> [[String]: Double] {
        values.withLock { values in
            let gone = values.filter { isGone($0.key) }
            for labels in gone.keys { values[labels] = nil }
            return gone
        }
    }

    func keep(where isKept: ([String]) -> Bool) { remove { !isKept($0) } }

    /// The value with these label values; 0 where there is none yet.
    public func value(_ labels: String...) -> Double { values.withLock { $0[labels] ?? 0 } }

    /// Every value, by its label values.
    public var all: [[String]: Double] { values.withLock { $0 } }

    let kind = "counter"

    var reading: MetricReading.Values {
        .counter(values.withLock { $0 }.map { MetricReading.Point(labels: $0.key, value: $0.value) })
    }

    func write(to text: inout String) {
        description.writeHeader(kind, to: &text)
        for (labels, value) in values.withLock({ $0 }).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            description.writeSample("", labels, nil, value, to: &text)
        }
    }
}

/// Values that go up and down.
public final class GaugeFamily: MetricFamily {
    let description: MetricDescription
    private let values = Mutex<[[String]: Double]>([:])

    init(description: MetricDescription) { self.description = description }

    /// Sets the value with these label values.
    public func set(_ value: Double, _ labels: String...) { values.withLock { $0[labels] = value } }

    func keep(where isKept: ([String]) -> Bool) { values.withLock { $0 = $0.filter { isKept($0.key) } } }

    /// Replaces all values: what is not among them is gone.
    public func replace(_ new: [[String]: Double]) { values.withLock { $0 = new } }

    /// Every value, by its label values.
    public var all: [[String]: Double] { values.withLock { $0 } }

    let kind = "gauge"

    var reading: MetricReading.Values {
        .gauge(values.withLock { $0 }.map { MetricReading.Point(labels: $0.key, value: $0.value) })
    }

    func write(to text: inout String) {
        description.writeHeader(kind, to: &text)
        for (labels, value) in values.withLock({ $0 }).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            description.writeSample("", labels, nil, value, to: &text)
        }
    }
}
