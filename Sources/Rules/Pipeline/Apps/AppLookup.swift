public import AdapterKit

/// An app's look-up at its vendor before it mints, and the use of the answers.
public struct AppLookup: Sendable {
    /// The handling of an event whose look-up has no answer in time.
    public enum OnFailure: String, Sendable, CaseIterable {
        /// The event waits in the retry tiers.
        case retry
        /// The worker mints the token without the look-up's additions.
        case mint
    }

    /// The times for which answers are cached.
    public struct Lifetimes: Sendable, Equatable {
        /// For a user that exists, in microseconds.
        let exists: Int64
        /// For a user that is gone, in microseconds.
        let gone: Int64
        /// For a user that is not known yet, in microseconds.
        let unknown: Int64

        /// Creates lifetimes of each kind of answer.
        public init(exists: Duration, gone: Duration, unknown: Duration) {
            self.exists = exists.microseconds
            self.gone = gone.microseconds
            self.unknown = unknown.microseconds
        }
    }

    /// The name of the account whose limits apply.
    public let account: String
    /// The kind of look-up; never `.off`.
    public let mode: LookupMode
    /// The handling of a user that the vendor does not know.
    public let unknownUser: LookupTerms.UnknownUser
    /// The handling of an event whose look-up has no answer in time.
    public let onFailure: OnFailure
    /// The maximum time for which an event waits in place, with no event queued behind it, in microseconds.
    let patience: Int64
    /// The times for which answers are cached.
    let lifetimes: Lifetimes

    /// Creates look-ups with the account `account`.
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

/// A credential at an endpoint. All look-ups with it share its limits, connections and circuit breaker.
public struct LookupAccount: Sendable {
    /// The account's name: that of the first app that uses it.
    public let name: String
    /// The rate limits, which apply together.
    public let rates: [LookupTerms.Rate]
    /// The maximum number of users in a request.
    public let batch: Int
    /// The maximum number of concurrent requests.
    public let concurrency: Int
    /// Whether requests authenticate with a token minted for the user.
    public let usesMintedTokens: Bool

    /// Creates the account `name`, with at least one user per request and one concurrent request.
    public init(name: String, rates: [LookupTerms.Rate], batch: Int, concurrency: Int, usesMintedTokens: Bool = false) {
        self.name = name
        self.rates = rates
        self.batch = usesMintedTokens ? 1 : max(1, batch)
        self.concurrency = max(1, concurrency)
        self.usesMintedTokens = usesMintedTokens
    }
}
