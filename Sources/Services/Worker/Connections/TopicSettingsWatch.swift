import Logging
import Operations
import Telemetry
import WorkerConfiguration

/// Looks at the settings of the topics every five minutes, with the rules of `remint topics check`: somebody may change them
/// while the worker runs. A topic that loses records, or keeps them too long, degrades the worker.
struct TopicSettingsWatch: Sendable {
    /// The time between two looks, and before the first one.
    /// The brokers do not report a change of settings, so the watch asks again and again.
    private static let interval = Duration.seconds(300)

    let plan: @Sendable () async throws -> TopicPlan
    let status: WorkerStatus
    let logger: Logger

    func run() async {
        var last: String?
        while (try? await Task.sleep(for: Self.interval)) != nil { last = await look(after: last) }
    }

    /// Looks once, and returns the reason why the topics degrade the worker; nil for none. `last` is the reason of the look
    /// before, which stays where the brokers do not answer or refuse to show the settings (DESCRIBE_CONFIGS).
    func look(after last: String?) async -> String? {
        guard let plan = try? await plan() else { return last }
        // A missing topic keeps the worker from being ready anyway.
        let errors = plan.entries.filter { $0.actual != nil }.flatMap { entry in
            entry.findings.filter { $0.severity == .error }.map { "\(entry.wanted.name): \($0.message)" }
        }
        let reason = errors.isEmpty ? nil : errors.joined(separator: "; ")
        status.degradations.set(.topics, reason)
        guard reason != last else { return last }
        if let reason {
            logger.error(
                "topics.settings-wrong", "a topic loses records or keeps them too long; correct its settings",
                metadata: [LogKey.detail: "\(reason)"])
        } else {
            logger.notice("topics.settings-right", "the settings of the topics are right again")
        }
        return reason
    }
}

extension TopicSettingsWatch {
    /// The watch over the topics of `running`; nil for a broker in this process, whose topics have no settings.
    init?(_ running: RunningConfiguration, status: WorkerStatus, logger: Logger) {
        guard !running.started.kafka.isEmbedded else { return nil }
        var quiet = logger
        quiet.logLevel = .critical
        self.init(
            plan: { [quiet] in
                let configuration = running.current
                let brokers = status.brokers ?? configuration.kafka.bootstrapServers
                let wanted = WantedTopic.all(configuration)
                let topics = ClusterTopics(configuration, brokers: brokers, logger: quiet)
                return TopicPlan(wanted, try await topics.read(wanted))
            }, status: status, logger: logger)
    }
}
