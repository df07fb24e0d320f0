/// The terms by which a campaign re-issues.
package struct CampaignTerms: Sendable {
    /// The share of users that goes first and is watched, in percent; 0 for no canary.
    package var canary: Double
    /// The minimum number of users in a canary, if there are that many.
    package var canaryUsers: Int
    /// The time for which the canary is watched after it is answered.
    package var watch: Duration
    /// The longest time from a canary's events, and from the remaining events, until their tokens are published.
    package var answerWithin: Duration
    /// The share of the canary's users whose tokens the vendor may reject.
    package var maxRejections: RejectionLimit
    /// The pace of sending.
    package var pace: ReissuePace
    /// The time in which every worker loads a changed ring: workers read their rings once a second.
    package var loading: Duration

    /// Terms with these parts.
    package init(
        canary: Double, canaryUsers: Int = 1, watch: Duration, answerWithin: Duration, maxRejections: RejectionLimit,
        pace: ReissuePace, loading: Duration = EndOfUse.loading
    ) {
        self.canary = canary
        self.canaryUsers = canaryUsers
        self.watch = watch
        self.answerWithin = answerWithin
        self.maxRejections = maxRejections
        self.pace = pace
        self.loading = loading
    }
}

/// The canary did not pass, or the ledger still shows tokens. The text names the reason and the way on.
package struct CampaignStopped: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
