/// A family's values at one moment, for readers of another form than Prometheus' text.
public struct MetricReading: Sendable {
    /// A value with its label values, in the order of the family's labels.
    public struct Point: Sendable {
        /// The labels' values.
        public let labels: [String]
        /// The value.
        public let value: Double
    }

    /// A distribution with its label values.
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
        /// Values that only grow.
        case counter([Point])
        /// Values that grow and shrink.
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
    /// The family's values.
    public let values: Values
}
