import Telemetry

/// Every metric there is, for documentation.
public enum MetricsCatalogue {
    /// A row for each, as Markdown: name, kind, labels, what it says.
    public static var table: [String] { WorkerMetrics().registry.table }
}
