/// What a family says at one moment, for whoever does not read Prometheus' text.
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
        /// How many observations fell under each bound and above the one before; one more than there are bounds.
        public let counts: [Int]
        /// The sum of the observations.
        public let sum: Double
    }

    /// What kind of a family it is, with its values.
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
    /// What it says.
    public let help: String
    /// The labels' names.
    public let labels: [String]
    /// Its values.
    public let values: Values
}
