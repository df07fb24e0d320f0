/// The resolver's counts since the last call, for metrics and logs. The names are those of accounts, apps and results,
/// never of users.
public struct LookupTally: Sendable {
    /// Finished requests, by account and result: `answered`, or the kind of failure.
    public internal(set) var requests: [[String]: Int] = [:]
    /// Users that the vendor returned, by app and verdict.
    public internal(set) var verdicts: [[String]: Int] = [:]
    /// Events whose answer was cached, by app.
    public internal(set) var hits: [[String]: Int] = [:]
    /// The durations of requests, by account, in seconds.
    public internal(set) var seconds: [String: [Double]] = [:]
    /// Notices for the operator.
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
    /// The vendor refuses requests about one user.
    case refused(account: String, detail: String)
    /// The vendor has refused every request for its rate for some seconds.
    case throttled(account: String, detail: String)
    /// The vendor accepts requests again, after this time in microseconds.
    case accepted(account: String, after: Int64)
}

/// The state of an account, for metrics.
public struct LookupCondition: Sendable, Equatable {
    /// The account.
    public let account: String
    /// `closed`, `half_open` or `open`.
    public let circuit: String
    /// The reason why the vendor answers no request; nil where it answers.
    public let trouble: String?
    /// The number of users with open questions, queued or in flight.
    public let waiting: Int
    /// The number of requests in flight.
    public let inFlight: Int
}
