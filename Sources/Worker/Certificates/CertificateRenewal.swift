/// When new Kafka clients are called for because the files of their certificates changed: a value that is told what the files are.
struct CertificateRenewal {
    /// What is to be done.
    enum Step: Equatable {
        case nothing
        /// The files changed and lie still: whether clients can be made with them is to be found out.
        case check
    }

    /// What a check came to.
    enum Verdict: Equatable {
        /// New clients are to be made.
        case renew
        /// The clients go on with what they have read. Said once for each problem.
        case say(String)
        case nothing
    }

    private static let looksBetweenChecks = 10

    /// What the clients were made with.
    private var used: ClientCertificates.Revisions
    /// What the files were the last time.
    private var last: ClientCertificates.Revisions
    /// What was checked in vain.
    private var refused: ClientCertificates.Revisions?
    /// How often the refused files were looked at since.
    private var looks = 0
    private var said: String?

    /// Clients that were made with `used`.
    init(used: ClientCertificates.Revisions) {
        self.used = used
        last = used
    }

    /// The files are `revisions` now. Who replaces several of them writes one after the other: only what is as it was the last time
    /// is checked, and what was refused only now and then again: a change of owner or mode does not show in a revision.
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

    /// The files that were `revisions` were checked.
    ///
    /// - Parameter problem: what keeps clients from being made with them; nil for nothing.
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
