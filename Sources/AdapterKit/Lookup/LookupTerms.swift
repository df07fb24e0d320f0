/// How a vendor's REST API wants to be asked, as far as that does not change from request to request.
public struct LookupTerms: Sendable, Equatable {
    /// What a request proves its right with.
    public enum Authorization: Sendable, Equatable {
        /// `Authorization: SCHEME KEY`, with the app's API key: `Bearer`, `Key`, `App`.
        case key(scheme: String)
        /// HTTP Basic (RFC 7617), with the app's user name and password.
        case basic
        /// `Authorization: Bearer TOKEN`, with a token minted for the very user that is asked about. Requests are about one
        /// user each then.
        case mintedToken
    }

    /// What happens for a user whom the vendor does not know.
    public enum UnknownUser: String, Sendable, CaseIterable {
        /// A token: the vendor may meet the user with its first use.
        case mint
        /// No token: the event is dead-lettered as `user_gone`.
        case reject
    }

    /// So many requests in any time of that length.
    public struct Rate: Sendable, Equatable {
        /// How many requests.
        public let requests: Int
        /// In how many seconds.
        public let seconds: Int

        /// At most `requests` in any `seconds`, both at least one.
        public init(_ requests: Int, perSeconds seconds: Int = 1) {
            self.requests = max(1, requests)
            self.seconds = max(1, seconds)
        }
    }

    /// Where the API is: a URL without a path, https; nil where each account has its own.
    public let endpoint: String?
    /// What a request proves its right with.
    public let authorization: Authorization
    /// How many users a request may be about.
    public let batch: Int
    /// The vendor's limits, all of which hold, for one credential. A configured rate that `ceiling` allows takes the place
    /// of the slower ones.
    public let rates: [Rate]
    /// The fastest an app may configure, where the vendor allows some accounts more than the slowest of `rates`; nil where
    /// a configured rate can only be slower than those.
    public let ceiling: Rate?
    /// How long the vendor may take for an answer, in seconds, unless the app says otherwise.
    public let timeout: Int
    /// What happens for an unknown user, unless the app says otherwise.
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
