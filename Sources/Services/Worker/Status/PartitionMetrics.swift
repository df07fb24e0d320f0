import Kafka
import Telemetry

/// The metrics of the partitions: their lag, and the faults of their logs and offsets.
struct PartitionMetrics: Sendable {
    /// The reason why a log does not continue at the committed offset.
    enum LogRegression: String, CaseIterable {
        /// The log ends before the committed offset.
        case truncated
        /// The topic was created again.
        case replaced
    }

    let lag: GaugeFamily
    private let offsetRegressions: CounterFamily
    private let lostRecords: CounterFamily
    private let logRegressions: CounterFamily
    private let passedBatches: CounterFamily

    init(_ registry: MetricsRegistry) {
        offsetRegressions = registry.counter(
            "remint_offset_setbacks_total",
            "Times that the worker got a partition again, and the group's offset was before the worker's own last commit there.",
            labels: ["topic", "partition"])
        lostRecords = registry.counter(
            "remint_lost_records_total", "Records that retention or an operator deleted before the worker read them.",
            labels: ["topic", "partition"])
        logRegressions = registry.counter(
            "remint_log_regressions_total",
            "Partitions whose log is shorter than the committed offset (truncated), or that were created again (replaced).",
            labels: ["topic", "partition", "reason"])
        passedBatches = registry.counter(
            "remint_unreadable_batches_total",
            "Record batches that the worker could not unpack and passed, each with one dead letter for all its records.",
            labels: ["topic", "partition"])
        lag = registry.gauge(
            "remint_consumer_lag_records", "Records of the partition that the worker has not finished.",
            labels: ["lane", "topic", "partition"])
    }

    /// Exposes the counts of `partitions`, which were assigned, so that the first fault of each is an increase.
    func begin(_ partitions: [TopicPartition]) {
        for partition in partitions {
            let (topic, number) = (partition.topic, String(partition.partition))
            offsetRegressions.add(0, topic, number)
            lostRecords.add(0, topic, number)
            passedBatches.add(0, topic, number)
            for reason in LogRegression.allCases { logRegressions.add(0, topic, number, reason.rawValue) }
        }
    }

    func wentBack(_ partition: TopicPartition) {
        offsetRegressions.add(1, partition.topic, String(partition.partition))
    }

    func regressed(_ reason: LogRegression, _ partition: TopicPartition) {
        logRegressions.add(1, partition.topic, String(partition.partition), reason.rawValue)
    }

    func passedBatch(_ partition: TopicPartition) {
        passedBatches.add(1, partition.topic, String(partition.partition))
    }

    func lost(_ count: Int64, _ partition: TopicPartition) {
        lostRecords.add(Int(clamping: count), partition.topic, String(partition.partition))
    }
}
