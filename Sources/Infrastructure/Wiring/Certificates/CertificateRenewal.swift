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

    /// The revisions that the clients were made with.
    private var used: ClientCertificates.Revisions
    /// The revisions at the last look.
    private var last: ClientCertificates.Revisions
    /// The revisions whose check failed.
    private var refused: ClientCertificates.Revisions?
    /// The number of looks at the refused files since their check.
    private var looks = 0
    private var said: String?

    /// Clients that were made with `used`.
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
