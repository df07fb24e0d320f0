/// A rate of requests a second, and a burst of requests after a rest.
public struct RequestRate: Sendable, Hashable {
    /// Nanoseconds that each request costs.
    let cost: Int64
    /// Nanoseconds that may be owed: the cost of `burst` requests.
    let credit: Int64

    private init(cost: Int64, credit: Int64) { (self.cost, self.credit) = (cost, credit) }

    /// Three quarters of the rate and of the burst: the part that unknown callers may use of a shared limit.
    var strangersPart: RequestRate {
        // With a third more for each request the same credit is for three quarters of them. At least one is possible.
        RequestRate(cost: cost + cost / 3, credit: max(credit, cost + cost / 3))
    }

    /// A rate.
    ///
    /// - Parameters:
    ///   - perSecond: The rate, from one in a quarter of an hour, 0.001, to a million.
    ///   - burst: The burst, from 1 to a million. Values outside are set to the nearest bound.
    public init(perSecond: Double, burst: Int) {
        let rate = perSecond.isNaN ? 0.001 : min(max(perSecond, 0.001), 1e6)
        cost = Int64(1e9 / rate)
        // At most 10^12 times 10^6.
        credit = cost * Int64(min(max(burst, 1), 1_000_000))
    }
}
