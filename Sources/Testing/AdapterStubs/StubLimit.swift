public import AdapterKit

/// A vendor's rate limit, as its stub keeps it: a number of requests in any period of a length.
public struct StubLimit: Sendable {
    private let rate: LookupTerms.Rate
    private var accepted: [UnixTime] = []

    /// The limit `rate`.
    public init(_ rate: LookupTerms.Rate) { self.rate = rate }

    /// Counts a request at `time`.
    ///
    /// - Returns: nil where it is within the limit, else in how many whole seconds another would be.
    public mutating func admit(at time: UnixTime) -> Int64? {
        let length = Int64(rate.seconds) * 1_000_000
        accepted.removeAll { time.microseconds(since: $0) >= length }
        guard accepted.count >= rate.requests, let first = accepted.first else {
            accepted.append(time)
            return nil
        }
        return max(1, (length - time.microseconds(since: first) + 999_999) / 1_000_000)
    }
}
