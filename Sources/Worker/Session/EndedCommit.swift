import JOSE

/// The result of a commit that ran in the background, with its figures for the log and the metrics.
struct EndedCommit: Sendable {
    let result: CommitResult
    /// The moment it ended; the loop takes note of it later.
    let at: UnixTime
    let took: Duration
    let digest: OutcomeLog
}
