/// The party whose word decides a token's user (`apps.*.identity`).
package enum IdentitySource: String, Sendable, CaseIterable {
    /// The report's, where the edge vouches for nobody.
    case reported
    /// The edge's alone: an event that vouches for nobody is refused as `identity_missing`.
    case vouched
}

/// The proof that a report must hold for a token (`apps.*.proof`).
package enum ProofDemand: String, Sendable, CaseIterable {
    /// No proof.
    case none
    /// The failed token, signed by a version of the app's ring for the report's user; a report without it is refused as
    /// `unproven`. If a vendor's code states that there was no token, no token is required.
    case ownToken = "own_token"
}

/// The outcome of a report that lacks its user (`apps.*.missing_user`).
package enum MissingUser: String, Sendable, CaseIterable {
    /// The event is dead-lettered as `missing_user`, because the app made a mistake.
    case deadLetter = "dead_letter"
    /// The event is skipped, because some SDKs leave the member out for an anonymous user.
    case skip
}
