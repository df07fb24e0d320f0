/// What came of a commit, and what there is to tell of it.
struct EndedCommit: Sendable {
    let result: CommitResult
    let took: Duration
    let digest: EndsDigest
}
