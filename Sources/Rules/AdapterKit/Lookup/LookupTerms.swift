/// The terms on which a vendor's REST API answers requests, as far as they are the same for every request.
public struct LookupTerms: Sendable, Equatable {
    /// The credential of a request.
    @nonexhaustive public enum Authorization: Sendable, Equatable {
        /// `Authorization: SCHEME KEY`, with the app's API key: `Bearer`, `Key`, `App`.
        case key(scheme: String)
        /// HTTP Basic (RFC 7617), with the app's user name and password.
        case basic
        /// `Authorization: Bearer TOKEN`, with a token minted for the very user that is asked about. Requests are about one
        /// user each then.
        case mintedToken
    }

    /// The outcome for a user that the vendor does not know.
    @nonexhaustive public enum UnknownUser: String, Sendable, CaseIterable {
        /// A token: the vendor may meet the user with its first use.
        case mint
        /// The user gets no token: the event is dead-lettered as `user_gone`.
        case reject
    }

    /// A number of requests in any time of a given length.
    public struct Rate: Sendable, Equatable {
        /// The number of requests.
        public let requests: Int
        /// The length of the time, in seconds.
        public let seconds: Int

        /// A rate of at most `requests` in any `seconds`, both at least one.
        public init(_ requests: Int, perSeconds seconds: Int = 1) {
            self.requests = max(1, requests)
            self.seconds = max(1, seconds)
        }
    }

    /// The API's base: an https URL without a path; nil where each account has its own.
    public let endpoint: String?
    /// The credential of a request.
    public let authorization: Authorization
    /// The largest number of users in one request.
    public let batch: Int
    /// The vendor's limits, all of which hold, for one credential. A configured rate that `ceiling` allows takes the place
    /// of the slower ones.
    public let rates: [Rate]
    /// The fastest an app may configure, where the vendor allows some accounts more than the slowest of `rates`; nil where
    /// a configured rate can only be slower than those.
    public let ceiling: Rate?
    /// The longest time for the vendor's answer, in seconds, unless the app configures another.
    public let timeout: Int
    /// The outcome for an unknown user, unless the app configures another.
    public let unknownUser: UnknownUser
    /// Whether a look-up can add to the token.
    public let enriches: Bool

    /// Terms with these values.
    public init(
        endpoint: String? = nil, authorization: Authorization, batch: Int = 1, rates: [Rate], ceiling: Rate? = nil,
        timeout: Int = 10, unknownUser: UnknownUser = .mint, enriches: Bool = false
    ) {
        self.endpoint = endpoint
        self.authorization = authorization
        self.batch = max(1, batch)
        self.rates = rates
        self.ceiling = ceiling
        self.timeout = timeout
        self.unknownUser = unknownUser
        self.enriches = enriches
    }
}
