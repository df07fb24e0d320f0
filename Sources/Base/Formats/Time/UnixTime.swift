/// A moment in UTC with the resolution Remint works in: microseconds since 1970, leap seconds not counted.
///
/// The domain is the years 0001 to 9999, which RFC 3339 can write; arithmetic stops at its ends instead of trapping,
/// since times come from outside.
public struct UnixTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public let microseconds: Int64

    /// A moment this many microseconds after 1970, brought into the domain.
    public init(microseconds: Int64) {
        self.microseconds = min(max(microseconds, Self.earliest), Self.latest)
    }

    /// A moment this many whole seconds after 1970.
    public init(seconds: Int64) {
        self.init(microseconds: seconds.multipliedSaturating(by: 1_000_000))
    }

    /// A moment this many milliseconds after 1970, as Kafka counts.
    public init(milliseconds: Int64) {
        self.init(microseconds: milliseconds.multipliedSaturating(by: 1000))
    }

    /// Whole seconds since 1970, rounded down: a NumericDate (RFC 7519, section 2).
    public var seconds: Int64 { floorDivide(microseconds, by: 1_000_000) }

    /// Whole milliseconds since 1970, rounded down.
    public var milliseconds: Int64 { floorDivide(microseconds, by: 1000) }

    /// Returns the moment `seconds` later, or earlier where negative.
    public func advanced(bySeconds seconds: Int64) -> UnixTime {
        UnixTime(microseconds: microseconds.addingSaturating(seconds.multipliedSaturating(by: 1_000_000)))
    }

    /// Returns the moment `microseconds` later, or earlier where negative.
    public func advanced(byMicroseconds microseconds: Int64) -> UnixTime {
        UnixTime(microseconds: self.microseconds.addingSaturating(microseconds))
    }

    /// Returns the microseconds from `other` to this moment. The domain is so narrow that they never overflow.
    public func microseconds(since other: UnixTime) -> Int64 { microseconds - other.microseconds }

    /// Whether `left` is earlier than `right`.
    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.microseconds < right.microseconds }

    /// RFC 3339 in UTC, with as many fractional digits as it needs: none, three or six.
    public var description: String { RFC3339.format(self) }

    private static let earliest: Int64 = -62_135_596_800_000_000
    private static let latest: Int64 = 253_402_300_799_999_999
}

extension Int64 {
    func multipliedSaturating(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

/// Divides and rounds towards the past, so that times before 1970 stay ordered.
func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}
