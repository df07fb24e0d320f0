/// A part of a string that is put together for a token.
@nonexhaustive public enum TextPart: Sendable, Equatable {
    /// A string that is the same for every token.
    case constant(String)
    /// The user's single id.
    case user
    /// The user's single id as a JSON string contains it, inside a string that is JSON.
    case userInJSON
    /// The user's single id as one part of a URL: percent-encoded, so that it can be no more than that part.
    case userInURL
    /// The id of the key that signs.
    case keyID
    /// A moment of the token's life, in decimal digits.
    case moment(Moment)
    /// A random UUID.
    case uuid
    /// The day of minting in UTC, `YYYYMMDD`.
    case date

    /// Returns the day of `seconds` since 1970 in UTC, `YYYYMMDD`.
    static func date(of seconds: Int64) -> [UInt8] {
        UnixTime(seconds: seconds).description.utf8.prefix(10).filter { $0 != UInt8(ascii: "-") }
    }
}

/// A moment that depends on a token's life.
public struct Moment: Sendable, Equatable {
    /// The time from which a moment is counted.
    @nonexhaustive public enum Base: Sendable, Equatable {
        /// The token's time of issue.
        case issuedAt
        /// The token's expiry.
        case expiresAt
    }

    /// The unit in which a moment is written.
    @nonexhaustive public enum Unit: Sendable, Equatable {
        /// Whole seconds since 1970.
        case seconds
        /// Whole milliseconds since 1970.
        case milliseconds
    }

    /// The time from which the moment is counted.
    public let base: Base
    /// The moment's distance from `base`, in seconds; negative for earlier.
    public let offset: Int64
    /// The unit in which the moment is written.
    public let unit: Unit

    /// The moment `offset` seconds after `base`.
    public init(_ base: Base, offset: Int64 = 0, unit: Unit = .seconds) {
        self.base = base
        self.offset = offset
        self.unit = unit
    }

    /// Returns the number for a token of `life`.
    func value(in life: Validity) -> Int64 {
        let start = base == .issuedAt ? life.issuedAt : life.expiresAt
        let moment = UnixTime(seconds: start).advanced(bySeconds: offset)
        return unit == .seconds ? moment.seconds : moment.milliseconds
    }
}
