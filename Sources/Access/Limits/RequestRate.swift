/// So many requests a second, and so many at once after a rest.
public struct RequestRate: Sendable, Hashable {
    /// Nanoseconds that each request costs.
    let cost: Int64
    /// Nanoseconds that may be owed: the cost of `burst` requests.
    let credit: Int64

    /// A rate.
    ///
    /// - Parameters:
    ///   - perSecond: from one in a quarter of an hour, 0.001, to a million.
    ///   - burst: from 1 to a million. What lies outside is brought to the nearest bound.
    public init(perSecond: Double, burst: Int) {
        let rate = perSecond.isNaN ? 0.001 : min(max(perSecond, 0.001), 1e6)
        cost = Int64(1e9 / rate)
        // At most 10^12 times 10^6.
        credit = cost * Int64(min(max(burst, 1), 1_000_000))
    }
}
