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

/// The decision to make new Kafka clients after their certificate files changed: a value that gets the files'
/// revisions.
struct CertificateRenewal {
    /// The next step.
    enum Step: Equatable {
        case nothing
        /// The files changed and are stable: check whether clients can be made with them.
        case check
    }

    /// The result of a check.
    enum Verdict: Equatable {
        /// New clients are to be made.
        case renew
        /// The clients keep the files that they have read. Logged once for each problem.
        case say(String)
        case nothing
    }

    private static let looksBetweenChecks = 10

    private var used: ClientCertificates.Revisions
    private var last: ClientCertificates.Revisions
    private var refused: ClientCertificates.Revisions?
    /// The number of looks at the refused files since their check.
    private var looks = 0
    private var said: String?

    init(used: ClientCertificates.Revisions) {
        self.used = used
        last = used
    }

    /// Returns the next step for files that have `revisions` now. An operator who replaces several files writes one
    /// after the other, so only files that did not change since the last look are checked. Refused files are checked
    /// again now and then, because a revision does not show a change of owner or mode.
    mutating func look(_ revisions: ClientCertificates.Revisions) -> Step {
        defer { last = revisions }
        if revisions == used {
            // They were put back.
            refused = nil
            said = nil
            return .nothing
        }
        guard revisions == last else { return .nothing }
        looks = revisions == refused ? looks + 1 : 0
        return looks % Self.looksBetweenChecks == 0 ? .check : .nothing
    }

    /// Records the result of checking the files of `revisions`.
    ///
    /// - Parameter problem: The reason why no clients can be made with them; nil if they can.
    mutating func checked(_ revisions: ClientCertificates.Revisions, problem: String?) -> Verdict {
        guard let problem else {
            used = revisions
            refused = nil
            said = nil
            return .renew
        }
        refused = revisions
        defer { said = problem }
        return problem == said ? .nothing : .say(problem)
    }
}
