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
    let events: CounterFamily
    let ends: OutcomeMetrics
    private let answers: AnswerMetrics
    private let signatures: CounterFamily
    private let transactions: CounterFamily
    private let sessions: CounterFamily
    let unreadable: CounterFamily
    private let transactionTime: HistogramFamily
    private let batchTime: HistogramFamily
    private let batchEvents: HistogramFamily
    let latency: HistogramFamily
    let partitions: PartitionMetrics
    let oldest: GaugeFamily
    let queued: GaugeFamily
    private let suspended: GaugeFamily
    private let pausedApps: GaugeFamily
    private let refusingUsers: GaugeFamily
    private let mintedUsers: GaugeFamily
    private let pausedLanes: GaugeFamily
    private let remembered: GaugeFamily
    private let rememberedBytes: GaugeFamily
    private let ready: GaugeFamily
    private let degraded: GaugeFamily
    let lookups: LookupMetrics
    private let tokens: TokenMetrics
    private let throttle: GaugeFamily
    private let certificateEnd: GaugeFamily
    private let clockOffset: GaugeFamily
    private let adminCertificateEnd: GaugeFamily
    let keys: KeyMetrics
    let signers: SignerMetrics
    let export: ExportMetrics
    let reloads: ReloadMetrics
    /// The apps and accounts whose series are exported; nil for all.
    private let kept = Mutex<(apps: Set<String>, accounts: Set<String>)?>(nil)

    /// - Parameter build: the versions that `remint_build_info` has.
    init(build: BuildInfo = BuildInfo()) {
        build.expose(in: registry)
        ProcessMetrics.expose(in: registry)
        let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        events = registry.counter("remint_events_total", "Events that the worker consumed.", labels: ["lane"])
        for lane in Lane.allCases { events.add(0, lane.rawValue) }
        ends = OutcomeMetrics(registry)
        answers = AnswerMetrics(registry)
        signatures = registry.counter(
            "remint_signatures_total",
            "Signatures that the worker made, including signatures of tokens that it did not publish.",
            labels: ["algorithm"])
        transactions = registry.counter(
            "remint_transactions_total", "Commits, by result: committed, aborted, blocked, unusable, fenced.",
            labels: ["result"])
        for result in CommitResult.names { transactions.add(0, result) }
        sessions = registry.counter("remint_sessions_total", "Times that the worker created its Kafka clients.")
        unreadable = UnreadableRecords.counter(in: registry)
        transactionTime = registry.histogram(
            "remint_transaction_duration_seconds", "Time from the start of a commit to its end.", buckets: seconds)
        batchTime = registry.histogram(
            "remint_batch_duration_seconds", "Time from a batch's first event to its last signature.", buckets: seconds)
        batchEvents = registry.histogram(
            "remint_batch_events", "Number of events in a batch.",
            buckets: [1, 10, 50, 100, 250, 500, 1000, 2000, 5000])
        latency = registry.histogram(
            "remint_publish_latency_seconds", "Time from the production of an event until its outcome is visible.",
            labels: ["lane"], buckets: seconds + [60, 300, 900, 3600])
        partitions = PartitionMetrics(registry)
        oldest = registry.gauge(
            "remint_oldest_unfinished_event_seconds",
            "Age of the oldest event that the worker consumed and has not finished; the age of a retry counts from its first failure.",
            labels: ["lane"])
        queued = registry.gauge(
            "remint_queued_events", "Events that the worker consumed and has not started to process.", labels: ["lane"])
        suspended = registry.gauge(
            "remint_app_suspended",
            "1 while the events of all users of the app wait because the vendor refuses the key; 0 while an operator has paused the app.",
            labels: ["app"])
        refusingUsers = registry.gauge(
            "remint_app_refusing_users",
            "Users among remint_app_minted_users whose tokens the vendor refuses because of the key.", labels: ["app"])
        mintedUsers = registry.gauge(
            "remint_app_minted_users",
            "Users who got a token of the current key from this worker, within suspend_window and at least suspend_min_age ago.",
            labels: ["app"])
        pausedApps = registry.gauge("remint_app_paused", "1 while an operator has paused the app.", labels: ["app"])
        pausedLanes = registry.gauge(
            "remint_lane_paused", "1 while an operator has paused the lane.", labels: ["lane"])
        remembered = registry.gauge("remint_admission_subjects", "Recent subjects that the worker remembers.")
        rememberedBytes = registry.gauge(
            "remint_admission_bytes", "Memory for the recent subjects that the worker remembers, in bytes.")
        lookups = LookupMetrics(registry)
        tokens = TokenMetrics(registry)
        throttle = registry.gauge(
            "remint_kafka_throttle_seconds",
            "Longest time within the last second for which a quota of the brokers made the worker's producer wait.")
        certificateEnd = registry.gauge(
            "remint_kafka_client_certificate_expiry_timestamp_seconds",
            "Time at which the Kafka clients' own certificate expires, in seconds since 1970; absent without ssl.certificate.location."
        )
        clockOffset = registry.gauge(
            "remint_clock_offset_seconds",
            "Seconds by which this machine's clock is ahead of another clock, negative if it is behind, by source: brokers, lookups, events; absent without a comparison in the last ten minutes.",
            labels: ["source"])
        adminCertificateEnd = registry.gauge(
            "remint_admin_certificate_expiry_timestamp_seconds",
            "Time at which the certificate of admin.tls expires, in seconds since 1970; absent without admin.tls.")
        keys = KeyMetrics(registry)
        signers = SignerMetrics(registry)
        export = ExportMetrics(registry)
        reloads = ReloadMetrics(registry)
        ready = registry.gauge("remint_ready", "1 while the dependency is ready.", labels: ["dependency"])
        degraded = registry.gauge(
            "remint_degraded",
            "1 while the part does not work as it should and the worker still answers events, by part: \(Degradations.Part.allCases.map(\.rawValue).joined(separator: ", ")).",
            labels: ["part"])
        // Events of apps that are gone since may still have finished.
        registry.beforeReading { [weak self] in self?.forgetOthers() }
    }

    /// Shows the readiness of `status` each time the metrics are read.
    func follow(_ status: WorkerStatus) {
        registry.beforeReading { [weak self, status] in
            self?.set(status.problems)
            self?.set(degraded: status.degradations.reasons())
        }
    }

    // MARK: What happens

    func set(certificateEnd moment: UnixTime?) {
        if let moment { certificateEnd.set(Double(moment.seconds)) }
    }

    /// Sets the longest throttle of late.
    func set(throttle: Duration) { self.throttle.set(throttle / .seconds(1)) }

    func set(clockOffsets offsets: [ClockComparisons.Source: Double]) {
        clockOffset.replace(Dictionary(offsets.map { ([$0.key.rawValue], $0.value) }) { first, _ in first })
    }

    func set(adminCertificateEnd moment: UnixTime) { adminCertificateEnd.set(Double(moment.seconds)) }

    func took(_ count: Int, _ lane: Lane) { events.add(count, lane.rawValue) }

    func opened() { sessions.add() }

    func processed(_ batch: Batch, seconds: Double) {
        batchTime.observe(seconds)
        batchEvents.observe(Double(batch.records.count + batch.parked.count))
        var signed = Tally<Algorithm>()
        for settlement in batch.settlements {
            if let algorithm = settlement.algorithm { signed.count(algorithm) }
        }
        signatures.add(signed.counts { [$0.rawValue] })
    }

    func ended(_ result: CommitResult, seconds: Double) {
        transactionTime.observe(seconds)
        transactions.add(1, result.name)
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

    /// Adds the results of fetching the brokers' tokens to the metrics.
    func follow(_ tally: TokenTally, now: @escaping @Sendable () -> UnixTime) {
        tokens.follow(tally, registry, now: now)
    }

    func add(_ tally: LookupTally) { lookups.add(tally) }

    // MARK: Whose

    /// Limits the metrics to these apps and look-up accounts from now on.
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

    func set(_ conditions: [LookupCondition], remembered: Int) { lookups.set(conditions, remembered: remembered) }

    func set(lag values: [[String]: Double]) { partitions.lag.replace(values) }

    func set(_ machine: SessionStateMachine, at now: UnixTime) {
        for lane in Lane.allCases {
            let age = machine.oldest(lane).map { Double(max(0, now.microseconds(since: $0))) / 1e6 }
            oldest.set(age ?? 0, lane.rawValue)
            queued.set(Double(machine.queued(lane)), lane.rawValue)
        }
        lookups.set(parked: machine.parkedCount)
    }

    func set(_ apps: [WorkerStatus.AppStatus], memory: (subjects: Int, bytes: Int)) {
        suspended.replace(
            Dictionary(apps.map { ([$0.name], $0.suspension?.isOfEveryone == true ? 1 : 0) }) { first, _ in first })
        pausedApps.replace(
            Dictionary(apps.map { ([$0.name], $0.suspension?.cause == .paused ? 1 : 0) }) { first, _ in first })
        remembered.set(Double(memory.subjects))
        rememberedBytes.set(Double(memory.bytes))
    }

    func set(refusals counts: [String: RefusalCounts]) {
        refusingUsers.replace(Dictionary(counts.map { ([$0.key], Double($0.value.refusing)) }) { first, _ in first })
        mintedUsers.replace(Dictionary(counts.map { ([$0.key], Double($0.value.minted)) }) { first, _ in first })
    }

    func set(paused lanes: Set<Lane>) {
        for lane in Lane.allCases { pausedLanes.set(lanes.contains(lane) ? 1 : 0, lane.rawValue) }
    }

    private func set(degraded reasons: [Degradations.Part: String]) {
        for part in Degradations.Part.allCases { degraded.set(reasons[part] == nil ? 0 : 1, part.rawValue) }
    }

    func set(_ problems: [WorkerStatus.Dependency: String]) {
        for dependency in WorkerStatus.Dependency.allCases {
            ready.set(problems[dependency] == nil ? 1 : 0, dependency.rawValue)
        }
    }
}

extension Suspension {
    /// Whether the vendor refuses the key for all users of the app.
    fileprivate var isOfEveryone: Bool { cause == .suspended && reach == .everyone }
}

extension CommitResult {
    /// Every result's name in metrics.
    static let names = ["committed", "aborted", "blocked", "unusable", "fenced"]

    /// The result's name in metrics.
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

private struct TokenMetrics: Sendable {
    private let tokens: CounterFamily
    private let life: GaugeFamily

    init(_ registry: MetricsRegistry) {
        tokens = registry.counter(
            "remint_kafka_tokens_total", "Attempts to get a token for the brokers, by result: obtained, failed.",
            labels: ["result"])
        life = registry.gauge(
            "remint_kafka_token_remaining_seconds",
            "Seconds until the token for the brokers expires; absent without kafka.oauth.")
    }

    /// Writes `tally` to the metrics each time they are read.
    func follow(_ tally: TokenTally, _ registry: MetricsRegistry, now: @escaping @Sendable () -> UnixTime) {
        let told = WrittenCounts()
        registry.beforeReading { [tokens, life] in
            let (obtained, failed) = told.advance(to: tally.counts)
            tokens.add(obtained, "obtained")
            tokens.add(failed, "failed")
            if let expiry = tally.expiry { life.set(max(0, Double(expiry.microseconds(since: now())) / 1e6)) }
        }
    }
}

/// The part of a tally that the counters already contain.
private final class WrittenCounts: Sendable {
    private let written = Mutex<(obtained: Int, failed: Int)>((0, 0))

    /// Returns the increase since the last call.
    func advance(to counts: (obtained: Int, failed: Int)) -> (obtained: Int, failed: Int) {
        written.withLock { written in
            defer { written = counts }
            return (counts.obtained - written.obtained, counts.failed - written.failed)
        }
    }
}

/// Every metric there is, for documentation.
public enum MetricsCatalogue {
    /// A row for each metric, as Markdown: name, kind, labels, meaning.
    public static var table: [String] { WorkerMetrics().registry.table }
}
