import JOSE

/// The result of a commit that ran in the background, with what the log and the metrics say of it.
struct EndedCommit: Sendable {
    let result: CommitResult
    /// The moment it ended; the loop takes note of it later.
    let at: UnixTime
    let took: Duration
    let digest: OutcomeLog
}
