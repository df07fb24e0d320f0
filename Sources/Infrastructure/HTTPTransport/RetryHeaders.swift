package import Formats
package import NIOHTTP1

/// The waits that an answer's headers ask for before the next request.
package struct RetryHeaders: Equatable {
    /// `Retry-After`, from now, in microseconds; nil where there is none that can be read.
    package let retryAfter: Int64?
    /// The time for which nothing is left of the limit, from now, in microseconds; nil where something is left.
    package let exhaustedFor: Int64?

    /// The longest accepted wait, an hour in microseconds: a longer one could stop the look-ups with one wrong header.
    static let longest: Int64 = 3600 * 1_000_000

    /// Numbers above are moments, those below are lengths; 2001 in Unix time, and 31 years.
    private static let firstMoment = 1e9

    package init(_ headers: HTTPHeaders, now: UnixTime) {
        retryAfter = headers.first(name: "retry-after").flatMap { Self.wait($0, now) }
        let isExhausted = headers.first(name: "x-ratelimit-remaining").flatMap(Self.number).map { $0 <= 0 } ?? false
        let reset = isExhausted ? headers.first(name: "x-ratelimit-reset").flatMap(Self.number) : nil
        exhaustedFor = reset.map { reset in
            Self.microseconds(reset > Self.firstMoment ? reset - Double(now.microseconds) / 1e6 : reset)
        }
    }

    /// Parses delta seconds or a date (RFC 9110, section 10.2.3).
    private static func wait(_ text: String, _ now: UnixTime) -> Int64? {
        if let seconds = number(text) { return microseconds(seconds) }
        return HTTPDate.parse(text, now: now).map { min(max(0, $0.microseconds(since: now)), longest) }
    }

    /// Parses a decimal number; some servers also write fractions of a second.
    private static func number(_ text: String) -> Double? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard digits.allSatisfy({ (0x30...0x39).contains($0) || "+-. \t".utf8.contains($0) }) else { return nil }
        return Double(String(decoding: digits.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self))
    }

    private static func microseconds(_ seconds: Double) -> Int64 {
        guard seconds > 0 else { return 0 }
        return seconds < Double(longest) / 1e6 ? Int64((seconds * 1e6).rounded(.up)) : longest
    }
}
