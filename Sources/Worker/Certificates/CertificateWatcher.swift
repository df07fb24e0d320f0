import AdapterKit
import Logging
import Telemetry

/// Watches the files of the Kafka clients' certificates and asks the worker for new clients where they changed: librdkafka does not
/// replace those of a client that lives.
struct CertificateWatcher: Sendable {
    private let certificates: ClientCertificates
    private let used: ClientCertificates.Revisions
    private let status: WorkerStatus
    private let metrics: WorkerMetrics
    private let logger: Logger
    private let interval: Duration

    /// A watcher of `certificates` as they are now, before the first clients are made with them.
    ///
    /// - Parameter interval: how long it rests between two looks.
    init(
        _ certificates: ClientCertificates, status: WorkerStatus, metrics: WorkerMetrics, logger: Logger,
        interval: Duration = .seconds(1)
    ) {
        self.certificates = certificates
        used = certificates.revisions
        self.status = status
        self.metrics = metrics
        self.logger = logger
        self.interval = interval
    }

    /// Looks again and again, until the task is cancelled.
    func run() async {
        var renewal = CertificateRenewal(used: used)
        metrics.set(certificateEnd: certificates.end)
        while !Task.isCancelled {
            try? await Task.sleep(for: interval)
            let revisions = certificates.revisions
            guard renewal.look(revisions) == .check else { continue }
            switch renewal.checked(revisions, problem: await problem()) {
            case .renew:
                metrics.set(certificateEnd: certificates.end)
                logger.notice("the files of the Kafka clients' certificates changed; new clients are made with them")
                status.renewClients()
            case .say(let problem):
                logger.warning(
                    "the files of the Kafka clients' certificates changed, and no client can be made with them; those of before go on",
                    metadata: [LogKey.detail: "\(problem)"])
            case .nothing: break
            }
        }
    }

    /// What keeps a client from being made, found out where it holds up nobody else.
    @concurrent private func problem() async -> String? { certificates.problem }
}
