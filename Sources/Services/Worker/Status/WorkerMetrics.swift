import AdapterKit
import BrokerTokens
import Kafka
import Keyring
import OTLP
import Pipeline
import Signing
import Synchronization
import Telemetry
import Wiring
import WorkerConfiguration

/// The worker's metrics. Labels are apps, lanes, topics and stable codes; never a user, a token or a string from
/// outside.
final class WorkerMetrics: Sendable {
    let registry = MetricsRegistry()
    let events = CounterFamily("remint_events_total", "Events that the worker consumed.", labels: ["lane"])
    let ends: OutcomeMetrics
    private let answers: AnswerMetrics
    private let signatures = CounterFamily(
        "remint_signatures_total",
        "Signatures that the worker made, including signatures of tokens that it did not publish.",
        labels: ["algorithm"])
    let transactions = CounterFamily(
        "remint_transactions_total", "Commits, by result: committed, aborted, blocked, unusable, fenced.",
        labels: ["result"])
    let sessions = CounterFamily("remint_sessions_total", "Times that the worker created its Kafka clients.")
    let unreadable: CounterFamily
    let transactionTime = HistogramFamily(
        "remint_transaction_duration_seconds", "Time from the start of a commit to its end.",
        buckets: WorkerMetrics.seconds)
    private let batchTime = HistogramFamily(
        "remint_batch_duration_seconds", "Time from a batch's first event to its last signature.",
        buckets: WorkerMetrics.seconds)
    private let batchEvents = HistogramFamily(
        "remint_batch_events", "Number of events in a batch.",
        buckets: [1, 10, 50, 100, 250, 500, 1000, 2000, 5000])
    let latency = HistogramFamily(
        "remint_publish_latency_seconds", "Time from the production of an event until its outcome is visible.",
        labels: ["lane"], buckets: WorkerMetrics.seconds + [60, 300, 900, 3600])
    let partitions: PartitionMetrics
    let oldest = GaugeFamily(
        "remint_oldest_unfinished_event_seconds",
        "Age of the oldest event that the worker consumed and has not finished; the age of a retry counts from its first failure.",
        labels: ["lane"])
    let queued = GaugeFamily(
        "remint_queued_events", "Events that the worker consumed and has not started to process.", labels: ["lane"])
    private let suspended = GaugeFamily(
        "remint_app_suspended",
        "1 while the events of all users of the app wait because the vendor refuses the key; 0 while an operator has paused the app.",
        labels: ["app"])
    private let pausedApps = GaugeFamily(
        "remint_app_paused", "1 while an operator has paused the app.", labels: ["app"])
    let refusingUsers = GaugeFamily(
        "remint_app_refusing_users",
        "Users among remint_app_minted_users whose tokens the vendor refuses because of the key.", labels: ["app"])
    let mintedUsers = GaugeFamily(
        "remint_app_minted_users",
        "Users who got a token of the current key from this worker, within suspend_window and at least suspend_min_age ago.",
        labels: ["app"])
    let pausedLanes = GaugeFamily(
        "remint_lane_paused", "1 while an operator has paused the lane.", labels: ["lane"])
    private let remembered = GaugeFamily("remint_admission_subjects", "Recent subjects that the worker remembers.")
    private let rememberedBytes = GaugeFamily(
        "remint_admission_bytes", "Memory for the recent subjects that the worker remembers, in bytes.")
    private let ready = GaugeFamily("remint_ready", "1 while the dependency is ready.", labels: ["dependency"])
    private let degraded = GaugeFamily(
        "remint_degraded",
        "1 while the part does not work as it should and the worker still answers events, by part: \(Degradations.Part.allCases.map(\.rawValue).joined(separator: ", ")).",
        labels: ["part"])
    let lookups: LookupMetrics
    let throttle = GaugeFamily(
        "remint_kafka_throttle_seconds",
        "Longest time within the last second for which a quota of the brokers made the worker's producer wait.")
    let certificateEnd = GaugeFamily(
        "remint_kafka_client_certificate_expiry_timestamp_seconds",
        "Time at which the Kafka clients' own certificate expires, in seconds since 1970; absent without ssl.certificate.location."
    )
    let clockOffset = GaugeFamily(
        "remint_clock_offset_seconds",
        "Seconds by which this machine's clock is ahead of another clock, negative if it is behind, by source: brokers, lookups, events; absent without a comparison in the last ten minutes.",
        labels: ["source"])
    let adminCertificateEnd = GaugeFamily(
        "remint_admin_certificate_expiry_timestamp_seconds",
        "Time at which the certificate of admin.tls expires, in seconds since 1970; absent without admin.tls.")
    let keys: KeyMetrics
    let signers: SignerMetrics
    let export: ExportMetrics
    let reloads: ReloadMetrics
    /// The apps and accounts whose series are exported; nil for all.
    private let kept = Mutex<(apps: Set<String>, accounts: Set<String>)?>(nil)

    private let tokens = CounterFamily(
        "remint_kafka_tokens_total", "Attempts to get a token for the brokers, by result: obtained, failed.",
        labels: ["result"])
    private let tokenLife = GaugeFamily(
        "remint_kafka_token_remaining_seconds",
        "Seconds until the token for the brokers expires; absent without kafka.oauth.")
    private static let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    /// - Parameter build: the versions that `remint_build_info` has.
    init(build: BuildInfo = BuildInfo()) {
        build.expose(in: registry)
        ProcessMetrics.expose(in: registry)
        ends = OutcomeMetrics(registry)
        answers = AnswerMetrics(registry)
        unreadable = UnreadableRecords.counter(in: registry)
        partitions = PartitionMetrics(registry)
        lookups = LookupMetrics(registry)
        keys = KeyMetrics(registry)
        signers = SignerMetrics(registry)
        export = ExportMetrics(registry)
        reloads = ReloadMetrics(registry)
        registry.add(familiesOf: self)
        for lane in Lane.allCases { events.add(0, lane.rawValue) }
        for result in CommitResult.names { transactions.add(0, result) }
        // Events of apps that are gone since may still have finished.
        registry.beforeReading { [weak self] in self?.forgetOthers() }
    }

    func follow(_ status: WorkerStatus) {
        registry.beforeReading { [ready, degraded, status] in
            let (problems, reasons) = (status.problems, status.degradations.reasons())
            for dependency in WorkerStatus.Dependency.allCases {
                ready.set(problems[dependency] == nil ? 1 : 0, dependency.rawValue)
            }
            for part in Degradations.Part.allCases { degraded.set(reasons[part] == nil ? 0 : 1, part.rawValue) }
        }
    }

    func follow(_ tally: TokenTally, now: @escaping @Sendable () -> UnixTime) {
        registry.beforeReading { [tokens, tokenLife] in
            let (obtained, failed) = tally.counts
            tokens.raise(to: Double(obtained), "obtained")
            tokens.raise(to: Double(failed), "failed")
            if let expiry = tally.expiry { tokenLife.set(max(0, Double(expiry.microseconds(since: now())) / 1e6)) }
        }
    }

    func processed(_ batch: Batch, seconds: Double) {
        batchTime.observe(seconds)
        batchEvents.observe(Double(batch.records.count + batch.parked.count))
        var signed = Tally<Algorithm>()
        for settlement in batch.settlements {
            if let algorithm = settlement.algorithm { signed.count(algorithm) }
        }
        signatures.add(signed.counts { [$0.rawValue] })
    }

    func committed(_ unit: CommitUnit, at now: UnixTime) {
        let settlements = unit.batches.lazy.flatMap(\.settlements)
        ends.count(settlements)
        answers.count(settlements, at: now)
        var unkeyed: [String: Int] = [:]
        for batch in unit.batches {
            for (record, settlement) in zip(batch.records, batch.settlements)
            where record.lane != .retries && record.body.keyLength < 0 {
                unkeyed[settlement.app ?? Configuration.App.unknown, default: 0] += 1
            }
        }
        for (app, count) in unkeyed { ends.countUnkeyed(app, count) }
        var ages = PerLane { _ in [Double]() }
        for record in unit.batches.lazy.flatMap(\.records) {
            guard let produced = record.timestamp else { continue }
            ages[record.lane].append(Double(max(0, now.microseconds(since: produced))) / 1e6)
        }
        for lane in Lane.allCases { latency.observe(ages[lane], [lane.rawValue]) }
    }

    // MARK: Whose

    func keep(apps: Set<String>, accounts: Set<String>) {
        kept.withLock { $0 = (apps, accounts) }
        forgetOthers()
    }

    private func forgetOthers() {
        guard let (apps, accounts) = kept.withLock({ $0 }) else { return }
        ends.forgetNames()
        // Outcomes that belong to no configured app have a reserved name.
        registry.keep("app") { $0 == Configuration.App.unknown || apps.contains($0) }
        registry.keep("account") { accounts.contains($0) }
    }

    /// Exposes the series of `apps`, with 0 where nothing was counted.
    func begin(_ apps: [Configuration.App]) {
        ends.begin(apps)
        for app in apps {
            answers.begin(app.name)
            if let account = app.lookup?.account { lookups.begin(app.name, account) }
        }
        for algorithm in Set(apps.map(\.adapter.algorithm)) { signatures.add(0, algorithm.rawValue) }
    }

    // MARK: What is

    func set(_ machine: SessionStateMachine, at now: UnixTime) {
        for lane in Lane.allCases {
            let age = machine.oldest(lane).map { Double(max(0, now.microseconds(since: $0))) / 1e6 }
            oldest.set(age ?? 0, lane.rawValue)
            queued.set(Double(machine.queued(lane)), lane.rawValue)
        }
        lookups.parked.set(Double(machine.parkedCount))
    }

    func set(_ apps: [WorkerStatus.AppStatus], memory: (subjects: Int, bytes: Int)) {
        suspended.replace(apps.map { ([$0.name], $0.suspension?.isOfEveryone == true ? 1 : 0) })
        pausedApps.replace(apps.map { ([$0.name], $0.suspension?.cause == .paused ? 1 : 0) })
        remembered.set(Double(memory.subjects))
        rememberedBytes.set(Double(memory.bytes))
    }
}

extension Suspension {
    fileprivate var isOfEveryone: Bool { cause == .suspended && reach == .everyone }
}

extension CommitResult {
    static let names = ["committed", "aborted", "blocked", "unusable", "fenced"]

    var name: String {
        switch self {
        case .committed: "committed"
        case .aborted: "aborted"
        case .blocked: "blocked"
        case .unusable: "unusable"
        case .fenced: "fenced"
        }
    }
}

/// The metrics of the partitions: their lag, and the faults of their logs and offsets.
struct PartitionMetrics: Sendable {
    /// The reason why a log does not continue at the committed offset.
    enum LogRegression: String, CaseIterable {
        /// The log ends before the committed offset.
        case truncated
        case replaced
    }

    let lag = GaugeFamily(
        "remint_consumer_lag_records", "Records of the partition that the worker has not finished.",
        labels: ["lane", "topic", "partition"])
    private let offsetRegressions = CounterFamily(
        "remint_offset_setbacks_total",
        "Times that the worker got a partition again, and the group's offset was before the worker's own last commit there.",
        labels: ["topic", "partition"])
    private let lostRecords = CounterFamily(
        "remint_lost_records_total", "Records that retention or an operator deleted before the worker read them.",
        labels: ["topic", "partition"])
    private let logRegressions = CounterFamily(
        "remint_log_regressions_total",
        "Partitions whose log is shorter than the committed offset (truncated), or that were created again (replaced).",
        labels: ["topic", "partition", "reason"])
    private let passedBatches = CounterFamily(
        "remint_unreadable_batches_total",
        "Record batches that the worker could not unpack and passed, each with one dead letter for all its records.",
        labels: ["topic", "partition"])

    init(_ registry: MetricsRegistry) {
        registry.add(familiesOf: self)
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

/// Every metric there is, for documentation.
public enum MetricsCatalogue {
    /// A row for each metric, as Markdown: name, kind, labels, meaning.
    public static var table: [String] { WorkerMetrics().registry.table }
}
