public import AdapterKit

/// What an app asks its vendor before it mints, and what it does with the answers.
public struct AppLookup: Sendable {
    /// What becomes of an event whose look-up is not answered in time.
    public enum OnFailure: String, Sendable, CaseIterable {
        /// It waits in the retry tiers.
        case retry
        /// Its token is minted all the same, without what a look-up adds.
        case mint
    }

    /// How long answers are believed.
    public struct Lifetimes: Sendable, Equatable {
        /// That a user exists, in microseconds.
        let exists: Int64
        /// That a user is gone, in microseconds.
        let gone: Int64
        /// That a user is not known yet, in microseconds.
        let unknown: Int64

        /// Lifetimes of each kind of answer.
        public init(exists: Duration, gone: Duration, unknown: Duration) {
            self.exists = exists.microseconds
            self.gone = gone.microseconds
            self.unknown = unknown.microseconds
        }
    }

    /// The name of the account whose limits it shares.
    public let account: String
    /// What is asked; never `.off`.
    public let mode: LookupMode
    /// What becomes of a user whom the vendor does not know.
    public let unknownUser: LookupTerms.UnknownUser
    /// What becomes of an event that is not answered in time.
    public let onFailure: OnFailure
    /// How long an event may wait in its place, with nobody waiting behind it, in microseconds.
    let patience: Int64
    /// How long answers are believed.
    let lifetimes: Lifetimes

    /// Look-ups with the account `account`.
    public init(
        account: String, mode: LookupMode, unknownUser: LookupTerms.UnknownUser, onFailure: OnFailure,
        patience: Duration, lifetimes: Lifetimes
    ) {
        self.account = account
        self.mode = mode
        self.unknownUser = unknownUser
        self.onFailure = onFailure
        self.patience = patience.microseconds
        self.lifetimes = lifetimes
    }
}

/// One credential at one endpoint, which everything that is asked with it shares: limits, connections, and whether the
/// vendor works at all.
public struct LookupAccount: Sendable {
    /// Its name: that of the first app that has it.
    public let name: String
    /// The limits, all of which hold.
    public let rates: [LookupTerms.Rate]
    /// How many users a request may be about.
    public let batch: Int
    /// How many requests may be under way at once.
    public let concurrency: Int
    /// Whether a request proves its right with a token minted for its user.
    public let usesMintedTokens: Bool

    /// The account `name`, with at least one user a request and one request at once.
    public init(name: String, rates: [LookupTerms.Rate], batch: Int, concurrency: Int, usesMintedTokens: Bool = false) {
        self.name = name
        self.rates = rates
        self.batch = usesMintedTokens ? 1 : max(1, batch)
        self.concurrency = max(1, concurrency)
        self.usesMintedTokens = usesMintedTokens
    }
}
