import Telemetry

/// Every metric there is, for documentation.
public enum MetricsCatalogue {
    /// A row for each metric, as Markdown: name, kind, labels, meaning.
    public static var table: [String] { WorkerMetrics().registry.table }
}
