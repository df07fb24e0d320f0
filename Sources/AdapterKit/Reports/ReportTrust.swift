/// The party whose word decides a token's user (`apps.*.identity`).
public enum IdentitySource: String, Sendable, CaseIterable {
    /// The report's, where the edge vouches for nobody.
    case reported
    /// The edge's alone: an event that vouches for nobody is refused as `identity_missing`.
    case vouched
}

/// The proof that a report must hold for a token (`apps.*.proof`).
public enum ProofDemand: String, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// The failed token, signed by a version of the app's ring for the report's user; else it is refused as `unproven`. A
    /// vendor's code that says that there was no token is taken at its word.
    case ownToken = "own_token"
}

/// The outcome of a report that lacks its user (`apps.*.missing_user`).
public enum MissingUser: String, Sendable, CaseIterable {
    /// It is a mistake of the app, and dead-lettered as `missing_user`.
    case deadLetter = "dead_letter"
    /// Some SDKs leave the member out for an anonymous user: skipped.
    case skip
}
