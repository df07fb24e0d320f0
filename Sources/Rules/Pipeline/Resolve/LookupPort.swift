public import AdapterKit

/// A request to a vendor.
public struct LookupCall: Sendable {
    /// The call's number, unique in the process.
    public let id: Int
    /// The name of the account with the endpoint and the credentials.
    public let account: String
    /// The request.
    public let request: LookupRequest
    /// The unsigned token to use as bearer; nil if the account's credentials are used.
    public let bearer: SigningRequest?

    init(id: Int, account: String, request: LookupRequest, bearer: SigningRequest? = nil) {
        self.id = id
        self.account = account
        self.request = request
        self.bearer = bearer
    }
}

/// The result of a call.
public struct LookupReply: Sendable {
    /// The call's number.
    public let id: Int
    /// The answer, with any status, or the failure.
    public let result: Result<LookupAnswer, LookupFailure>

    /// Creates the reply to call `id`.
    public init(id: Int, result: Result<LookupAnswer, LookupFailure>) {
        self.id = id
        self.result = result
    }
}

/// A vendor's answer, with the retry headers.
public struct LookupAnswer: Sendable, Equatable {
    /// The status and the body.
    public let response: LookupResponse
    /// The time of `Retry-After` (RFC 9110, section 10.2.3) from now, in microseconds. An account pauses for five
    /// minutes at most.
    public let retryAfter: Int64?
    /// The time until the vendor's limit resets, in microseconds: `X-RateLimit-Reset` if `X-RateLimit-Remaining` is 0.
    public let exhaustedFor: Int64?
    /// The vendor's time at the answer (`Date`, RFC 9110, section 6.6.1); nil where it gave none.
    public let date: UnixTime?

    /// Creates an answer with these parts.
    public init(response: LookupResponse, retryAfter: Int64? = nil, exhaustedFor: Int64? = nil, date: UnixTime? = nil) {
        self.response = response
        self.retryAfter = retryAfter
        self.exhaustedFor = exhaustedFor
        self.date = date
    }
}

/// A client for the vendors' APIs: over HTTP in the worker, in memory in a test.
public protocol LookupPort: Sendable {
    /// Begins these calls and returns at once. Every call gets a reply within its account's timeout.
    func ask(_ calls: [LookupCall])

    /// Returns the replies since the last call.
    func takeReplies() -> [LookupReply]

    /// Sets the function to call, on any thread, each time a reply is ready. It must not block.
    func onReply(_ signal: @escaping @Sendable () -> Void)
}
