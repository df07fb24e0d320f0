/// A family's values at one moment, for readers of another form than Prometheus' text.
public struct MetricReading: Sendable {
    /// One value with the values of its labels, in the order of the family's.
    public struct Point: Sendable {
        /// The labels' values.
        public let labels: [String]
        /// The value.
        public let value: Double
    }

    /// One distribution with the values of its labels.
    public struct Distribution: Sendable {
        /// The labels' values.
        public let labels: [String]
        /// The numbers of observations under each bound and above the one before; one more than there are bounds.
        public let counts: [Int]
        /// The sum of the observations.
        public let sum: Double
    }

    /// The kind of a family, with its values.
    public enum Values: Sendable {
        /// They only grow.
        case counter([Point])
        /// They go up and down.
        case gauge([Point])
        /// Distributions over buckets with these upper bounds.
        case histogram(bounds: [Double], [Distribution])
    }

    /// The family's name.
    public let name: String
    /// The family's help text.
    public let help: String
    /// The labels' names.
    public let labels: [String]
    /// Its values.
    public let values: Values
}
