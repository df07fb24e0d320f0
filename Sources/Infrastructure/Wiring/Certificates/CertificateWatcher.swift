package import AdapterKit
package import Logging
import Telemetry

/// Watches the files of the Kafka clients' certificates and asks for new clients where they changed: librdkafka does not replace those
/// of a client that lives.
package struct CertificateWatcher: Sendable {
    private let certificates: ClientCertificates
    private let used: ClientCertificates.Revisions
    private let logger: Logger
    private let interval: Duration
    private let renew: @Sendable () -> Void
    private let ended: @Sendable (UnixTime?) -> Void

    /// A watcher of `certificates` as they are now, before the first clients are made with them.
    ///
    /// - Parameters:
    ///   - interval: The pause between two looks.
    ///   - renew: A function that requests new clients.
    ///   - ended: A function that gets the expiry of the clients' own certificate, at the start and after each change.
    package init(
        _ certificates: ClientCertificates, logger: Logger, interval: Duration = .seconds(1),
        renew: @escaping @Sendable () -> Void, ended: @escaping @Sendable (UnixTime?) -> Void
    ) {
        self.certificates = certificates
        used = certificates.revisions
        self.logger = logger
        self.interval = interval
        self.renew = renew
        self.ended = ended
    }

    /// Watches the files until the task is canceled.
    package func run() async {
        var renewal = CertificateRenewal(used: used)
        ended(certificates.end)
        while !Task.isCancelled {
            try? await Task.sleep(for: interval)
            let revisions = certificates.revisions
            guard renewal.look(revisions) == .check else { continue }
            let problem = await problem()
            // Files that changed during the check are checked once more: it may have seen either.
            guard certificates.revisions == revisions else { continue }
            switch renewal.checked(revisions, problem: problem) {
            case .renew:
                ended(certificates.end)
                logger.notice(
                    "kafka-certificates.changed",
                    "the files of the Kafka clients' certificates changed; new clients are made with them")
                renew()
            case .say(let problem):
                logger.warning(
                    "kafka-certificates.refused",
                    "the files of the Kafka clients' certificates changed, and no client can be made with them; those of before go on",
                    metadata: [LogKey.detail: "\(problem)"])
            case .nothing: break
            }
        }
    }

    /// Returns the reason why no client can be made; nil if one can. The check runs off the caller's actor, where it
    /// delays nobody else.
    @concurrent private func problem() async -> String? { certificates.problem }
}
