import JOSE

/// What came of a commit, and what there is to tell of it.
struct EndedCommit: Sendable {
    let result: CommitResult
    /// When it came to that, which is before the loop has time to hear of it.
    let at: UnixTime
    let took: Duration
    let digest: OutcomeLog
}
