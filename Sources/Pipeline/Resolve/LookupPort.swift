public import AdapterKit

/// A request on its way to a vendor.
public struct LookupCall: Sendable {
    /// Its number; no other call of the process has it.
    public let id: Int
    /// Whose endpoint and credentials it goes with.
    public let account: String
    /// What is asked.
    public let request: LookupRequest
    /// The token that is to be its bearer, which lacks its signature alone; nil where the account's credentials are.
    public let bearer: SigningRequest?

    init(id: Int, account: String, request: LookupRequest, bearer: SigningRequest? = nil) {
        self.id = id
        self.account = account
        self.request = request
        self.bearer = bearer
    }
}

/// What became of a call.
public struct LookupReply: Sendable {
    /// The call's number.
    public let id: Int
    /// The answer, whatever its status, or why there is none.
    public let result: Result<LookupAnswer, LookupFailure>

    /// The end of call `id`.
    public init(id: Int, result: Result<LookupAnswer, LookupFailure>) {
        self.id = id
        self.result = result
    }
}

/// A vendor's answer, with what its headers say about asking again.
public struct LookupAnswer: Sendable, Equatable {
    /// Status and body.
    public let response: LookupResponse
    /// `Retry-After` (RFC 9110, section 10.2.3), from now, in microseconds. An account rests for five minutes at most, whatever it says.
    public let retryAfter: Int64?
    /// How long nothing is left of the vendor's limit, in microseconds: `X-RateLimit-Reset` where `X-RateLimit-Remaining`
    /// is 0.
    public let exhaustedFor: Int64?

    /// An answer with these parts.
    public init(response: LookupResponse, retryAfter: Int64? = nil, exhaustedFor: Int64? = nil) {
        self.response = response
        self.retryAfter = retryAfter
        self.exhaustedFor = exhaustedFor
    }
}

/// Who asks the vendors: over HTTP in the worker, in memory in a test.
public protocol LookupPort: Sendable {
    /// Begins these calls and returns at once. Every one of them ends with a reply, within its account's time limit.
    func ask(_ calls: [LookupCall])

    /// The replies that came since the last question.
    func takeReplies() -> [LookupReply]

    /// Sets what is called, on any thread, each time a reply is there to be taken. It must not block.
    func onReply(_ signal: @escaping @Sendable () -> Void)
}
