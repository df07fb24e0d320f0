/// What the resolver counted since it was last asked, for metrics and logs. Names are accounts', apps' and results'; never a
/// user.
public struct LookupTally: Sendable {
    /// Requests that ended, by account and result: `answered`, or why not.
    public internal(set) var requests: [[String]: Int] = [:]
    /// Users the vendor spoke of, by app and verdict.
    public internal(set) var verdicts: [[String]: Int] = [:]
    /// Events that found their answer remembered, by app.
    public internal(set) var hits: [[String]: Int] = [:]
    /// How long the vendors took, by account, in seconds.
    public internal(set) var seconds: [String: [Double]] = [:]
    /// What an operator should know of.
    public internal(set) var notices: [LookupNotice] = []

    mutating func count(_ request: String, _ account: String, took: Int64) {
        requests[[account, request], default: 0] += 1
        seconds[account, default: []].append(Double(max(0, took)) / 1e6)
    }

    mutating func count(verdict: String, of app: String) { verdicts[[app, verdict], default: 0] += 1 }

    mutating func hit(_ app: String) { hits[[app], default: 0] += 1 }
}

/// Something about a vendor's REST API that an operator should know of.
public enum LookupNotice: Sendable, Equatable {
    /// So much failed that nothing is asked for a while. The detail is the last failure's.
    case opened(account: String, detail: String)
    /// The vendor answers again, after so many microseconds.
    case closed(account: String, after: Int64)
    /// An answer named another user than it was asked about, and was refused.
    case mismatched(account: String, detail: String)
    /// The vendor refuses what is asked about one user.
    case refused(account: String, detail: String)
}

/// What the metrics say of an account now.
public struct LookupCondition: Sendable, Equatable {
    /// The account.
    public let account: String
    /// `closed`, `half_open` or `open`.
    public let circuit: String
    /// Users who wait to be asked about, and those who are being asked about.
    public let waiting: Int
    /// Requests under way.
    public let inFlight: Int
}
