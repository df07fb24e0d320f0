/// The terms by which a campaign re-issues.
package struct CampaignTerms: Sendable {
    /// The part that goes first and is watched, in percent; 0 for none.
    package var canary: Double
    /// The users whom a canary has at least, as far as there are so many.
    package var canaryUsers: Int
    /// The time for which the canary is watched once it is answered.
    package var watch: Duration
    /// The longest time from a canary's events, and from the rest's, until their tokens are published.
    package var answerWithin: Duration
    /// The part of the canary's users whose tokens may be rejected.
    package var maxRejections: RejectionLimit
    /// The pace of sending.
    package var pace: ReissuePace

    /// These terms.
    package init(
        canary: Double, canaryUsers: Int = 1, watch: Duration, answerWithin: Duration, maxRejections: RejectionLimit,
        pace: ReissuePace
    ) {
        self.canary = canary
        self.canaryUsers = canaryUsers
        self.watch = watch
        self.answerWithin = answerWithin
        self.maxRejections = maxRejections
        self.pace = pace
    }
}

/// The canary did not pass, or the ledger still shows tokens: why, and how the campaign goes on.
package struct CampaignStopped: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
