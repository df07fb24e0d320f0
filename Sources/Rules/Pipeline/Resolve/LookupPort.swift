public import AdapterKit

/// A request to a vendor.
public struct LookupCall: Sendable {
    public let id: Int
    /// The name of the account with the endpoint and the credentials.
    public let account: String
    public let request: LookupRequest
    /// The unsigned token to use as bearer; nil if the account's credentials are used.
    public let bearer: SigningRequest?
}

/// The result of a call.
public struct LookupReply: Sendable {
    public let id: Int
    public let result: Result<LookupAnswer, LookupFailure>

    /// Creates the reply to call `id`.
    public init(id: Int, result: Result<LookupAnswer, LookupFailure>) {
        self.id = id
        self.result = result
    }
}

/// A vendor's answer, with the retry headers.
public struct LookupAnswer: Sendable, Equatable {
    public let response: LookupResponse
    /// The time of `Retry-After` (RFC 9110, section 10.2.3) from now, in microseconds. An account pauses for five
    /// minutes at most.
    public let retryAfter: Int64?
    /// The time until the vendor's limit resets, in microseconds: `X-RateLimit-Reset` if `X-RateLimit-Remaining` is 0.
    public let exhaustedFor: Int64?
    /// The vendor's time at the answer (`Date`, RFC 9110, section 6.6.1); nil where it gave none.
    public let date: UnixTime?

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

    func takeReplies() -> [LookupReply]

    /// Sets the function to call, on any thread, each time a reply is ready. It must not block.
    func onReply(_ signal: @escaping @Sendable () -> Void)
}

/// The resolver's counts since the last call, for metrics and logs. The names are those of accounts, apps and results,
/// never of users.
public struct LookupTally: Sendable {
    /// Finished requests, by account and result: `answered`, or the kind of failure.
    public internal(set) var requests: [[String]: Int] = [:]
    public internal(set) var verdicts: [[String]: Int] = [:]
    public internal(set) var hits: [[String]: Int] = [:]
    /// The durations of requests, by account, in seconds.
    public internal(set) var seconds: [String: [Double]] = [:]
    public internal(set) var notices: [LookupNotice] = []

    mutating func count(_ request: String, _ account: String, took: Int64) {
        requests[[account, request], default: 0] += 1
        seconds[account, default: []].append(Double(max(0, took)) / 1e6)
    }

    mutating func count(verdict: String, of app: String) { verdicts[[app, verdict], default: 0] += 1 }

    mutating func hit(_ app: String) { hits[[app], default: 0] += 1 }
}

/// A state of a vendor's REST API that an operator should know of.
public enum LookupNotice: Sendable, Equatable {
    /// The circuit opened after several failures. The detail is that of the last failure.
    case opened(account: String, detail: String)
    /// The circuit closed: the vendor answers again, after this time in microseconds.
    case closed(account: String, after: Int64)
    /// An answer named another user than the request did, and was refused.
    case mismatched(account: String, detail: String)
    case refused(account: String, detail: String)
    /// The vendor has refused every request for its rate for some seconds.
    case throttled(account: String, detail: String)
    /// The vendor accepts requests again, after this time in microseconds.
    case accepted(account: String, after: Int64)
}

/// The state of an account, for metrics.
public struct LookupCondition: Sendable, Equatable {
    public let account: String
    /// `closed`, `half_open` or `open`.
    public let circuit: String
    /// The reason why the vendor answers no request; nil where it answers.
    public let trouble: String?
    /// The number of users with open questions, queued or in flight.
    public let waiting: Int
    public let inFlight: Int
}
